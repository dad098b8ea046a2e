import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';

export type Migration = {
  readonly name: string;
  readonly sql: string;
  /** As Prisma computes it, so that its own tools accept what this runner applied. */
  readonly checksum: string;
};

/** The migrations of one service in the order in which they apply. */
export function readMigrations(serviceDirectory: string): Migration[] {
  return migrationFoldersOf(serviceDirectory).flatMap(readFolder);
}

/**
 * Where the migrations of a service are: first those of the platform, in the folders that its `prisma/platform.json`
 * names, then its own, in Prisma's layout.
 */
export function migrationFoldersOf(serviceDirectory: string): string[] {
  const prisma = join(serviceDirectory, 'prisma');
  return [...platformFoldersOf(prisma).map((folder) => join(root, folder)), join(prisma, 'migrations')];
}

function platformFoldersOf(prisma: string): string[] {
  const file = join(prisma, 'platform.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).migrations : [];
}

function readFolder(folder: string): Migration[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .filter((name) => existsSync(join(folder, name, 'migration.sql')))
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
