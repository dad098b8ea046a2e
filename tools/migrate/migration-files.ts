import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Migration = {
  readonly name: string;
  readonly sql: string;
  /** As Prisma computes it, so that its own tools accept what this runner applied. */
  readonly checksum: string;
};

/** The migrations of one service in Prisma's layout, in the order in which they apply. */
export function readMigrations(serviceDirectory: string): Migration[] {
  const folder = join(serviceDirectory, 'prisma', 'migrations');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .filter((name) => existsSync(join(folder, name, 'migration.sql')))
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
