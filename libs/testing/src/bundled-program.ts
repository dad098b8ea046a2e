import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const root = join(__dirname, '../../..');
const folder = join(root, 'node_modules/.cache/plinth-test');

/**
 * Bundles a program of the project as the build does, for a test that runs it in a separate process; returns the path of
 * the bundle. @param path from the root
 */
export function bundledProgram(path: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, path)],
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages: 'external',
    write: false,
  });
  const code = outputFiles[0]!.contents;
  const program = join(folder, `${createHash('sha256').update(code).digest('hex').slice(0, 16)}.cjs`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // Renamed in one step, because other tests may start the same program.
  const draft = `${program}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, program);
  return program;
}
