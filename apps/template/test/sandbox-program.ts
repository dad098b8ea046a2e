import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const root = join(__dirname, '../../..');

/** Compiles the program of the rendering processes, as the build does; answers where it is. */
export function sandboxProgram(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, 'apps/template/src/sandbox.ts')],
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages: 'external',
    write: false,
  });
  const code = outputFiles[0]!.contents;
  const folder = join(root, 'node_modules/.cache/plinth-sandbox');
  const program = join(folder, `${createHash('sha256').update(code).digest('hex').slice(0, 16)}.cjs`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const draft = `${program}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, program);
  return program;
}
