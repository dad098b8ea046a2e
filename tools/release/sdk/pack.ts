import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';

const folder = join(root, 'dist', 'sdk');

/**
 * `npm run sdk`: compiles the client and the contracts that it is made from into a package that needs nothing of this
 * project, and packs it to `dist/plinth-sdk-<version>.tgz`; returns the path of the file.
 */
function main() {
  rmSync(folder, { recursive: true, force: true });
  run('node_modules/.bin/tsc', '-p', 'tools/release/sdk/tsconfig.package.json');
  for (const file of compiledFiles()) writeFileSync(file, withRelativeImports(file));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(root, 'libs/sdk/README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  console.log(join('dist', run('npm', 'pack', '--silent', './dist/sdk', '--pack-destination', 'dist')));
}

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

const compiledFiles = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(js|d\.ts)$/.test(name))
    .map((name) => join(folder, name));

/** Path aliases are unknown outside of this repository, and Node wants the whole name of a file. */
function withRelativeImports(file: string): string {
  const pathTo = (imported: string): string => {
    const [, library, path] = /^@plinth\/(\w+)\/(.*)$/.exec(imported) ?? [];
    const target = library ? join(folder, library, 'src', path!) : join(dirname(file), imported);
    const steps = relative(dirname(file), `${target}.js`);
    return steps.startsWith('.') ? steps : `./${steps}`;
  };
  return readFileSync(file, 'utf8').replace(
    /(\bfrom |\bimport\()(['"])(\.[^'"]+|@plinth\/[^'"]+)\2/g,
    (_, before: string, quote: string, imported: string) => `${before}${quote}${pathTo(imported)}${quote}`,
  );
}

function manifest() {
  const { version, license, engines, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return {
    name: '@plinth/sdk',
    version,
    description: 'A typed client of the platform, made from its contracts.',
    license,
    engines,
    type: 'module',
    sideEffects: false,
    exports: { './contracts/*': './contracts/src/*.js', './*': './sdk/src/*.js' },
    dependencies: { uuid: dependencies.uuid, zod: dependencies.zod },
  };
}

main();
