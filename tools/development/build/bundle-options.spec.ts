import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'plinth-bundle-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (path: string, content: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};

/** A program with a package that has a map of its own; both fail, and the program prints where. */
async function tracesOf(flags: readonly string[]): Promise<string> {
  write('package/failing.ts', `\n\nexport const fail = (text: string): void => { throw new Error(text) };`);
  write(
    'program.ts',
    `import { fail } from 'failing';\n\n\ntry { fail('here') } catch (error) { console.log((error as Error).stack) }`,
  );
  const options = { ...bundleOptions, absWorkingDir: folder };
  await build({
    ...options,
    banner: {},
    entryPoints: ['package/failing.ts'],
    outfile: join(folder, 'node_modules/failing/index.js'),
  });
  await build({ ...options, entryPoints: ['program.ts'], outfile: join(folder, 'dist/program.js') });
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(folder, 'dist/program.js')]);
  return stdout;
}

describe('a program of the project', () => {
  it('names its own lines as they were written, and those of packages as they are shipped', async () => {
    const traces = await tracesOf(['--enable-source-maps']);

    expect(traces).toContain(join(folder, 'program.ts:4'));
    expect(traces).toContain(join(folder, 'node_modules/failing/index.js:'));
    expect(traces).not.toContain('failing.ts');
  });

  it('names lines of its bundle where nobody asked for maps', async () => {
    expect(await tracesOf([])).toContain(join(folder, 'dist/program.js:'));
  });
});
