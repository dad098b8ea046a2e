import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const root = join(__dirname, '../../..');

/** A spec that starts many processes of one program bundles it once. */
const bundled = new Map<string, string>();

/**
 * Bundles a program of the project as the build does, for a test that runs it in a separate process; returns the path of
 * the bundle. @param path from the root @param beside what the program reads in its folder, by the names of the files
 * @param packages `bundle` for one that starts again and again: one file starts in half the time of a tree of packages
 */
export function bundledProgram(
  path: string,
  beside: Readonly<Record<string, string>> = {},
  packages: 'external' | 'bundle' = 'external',
): string {
  const key = JSON.stringify([path, beside, packages]);
  const program = bundled.get(key) ?? bundle(path, beside, packages);
  bundled.set(key, program);
  return program;
}

function bundle(
  path: string,
  beside: Readonly<Record<string, string>>,
  packages: 'external' | 'bundle',
): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, path)],
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages,
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'silent',
    write: false,
  });
  const files = Object.entries({ ...beside, 'program.cjs': outputFiles[0]!.text });
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const folder = join(root, 'node_modules/.cache/plinth-test', digest);
  const program = join(folder, 'program.cjs');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // Each renamed in one step and the program last, because other tests may start the same one.
  for (const [name, text] of files) {
    const draft = join(folder, `${name}.${process.pid}`);
    writeFileSync(draft, text);
    renameSync(draft, join(folder, name));
  }
  return program;
}
