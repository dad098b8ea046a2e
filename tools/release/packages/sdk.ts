import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { build } from 'tsup';
import { root } from '../../development/launcher/paths.mjs';
import { generateClient, isLanguage } from './generated-clients.ts';
import { completePackage, manifestOf, pack, rangesOf, runProgram } from './npm-package.ts';

const project = 'libs/sdk';
const folder = join(root, 'dist', 'sdk');
const contracts = join(root, 'libs', 'contracts', 'src');

const budget = { packedBytesMax: 200_000, unpackedBytesMax: 1_150_000 };

/** Types and the shapes of requests are from zod; streams are read by eventsource-parser. */
const dependencies = rangesOf(['eventsource-parser', 'uuid', 'zod']);

/**
 * `npm run sdk`: bundles the client and the contracts that it is made from into a package that needs nothing of this
 * project: ES modules, their types and their source maps. Each module that users import is a file, so that a page takes
 * along only the areas that it uses. `npm run sdk -- python` and `npm run sdk -- csharp` generate clients in other languages.
 */
async function main() {
  const [, , language] = process.argv;
  if (language !== undefined && !isLanguage(language)) throw new Error(`There is no client in ${language}.`);
  if (language !== undefined) return console.log(relative(root, await generateClient(language)));
  // The bundler reads the kind of modules from the manifest in the working directory.
  process.chdir(join(root, project));
  rmSync(folder, { recursive: true, force: true });
  await build({
    config: false,
    entry: writeEntries(),
    outDir: folder,
    tsconfig: join(root, 'tsconfig.base.json'),
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    // Node's own modules are in `node-files` only.
    external: [/^node:/, ...Object.keys(dependencies)],
    // Declarations that the compiler has written are read in a moment; it would check every source again.
    dts: { compilerOptions: { composite: false, types: ['node'], paths: declarationPaths() } },
    sourcemap: true,
    silent: true,
  });
  completePackage(folder, project, { ...manifestOf(project), dependencies });
  pack(folder, budget);
}

/** Where the declarations of each library are, by its alias; written where they are out of date. */
function declarationPaths(): Record<string, string[]> {
  // The compiler of the target `typecheck`: another one would write all declarations anew.
  const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '--build', '--singleThreaded', project], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const libraries = ['contracts', 'kernel', 'sdk'];
  const declarations = (library: string) => [join(root, 'dist', 'types', library, 'src', '*')];
  return Object.fromEntries(libraries.map((library) => [`@plinth/${library}/*`, declarations(library)]));
}

/** Entries of one folder, since the bundler reads the types of the project anew for each folder that has entries. */
function writeEntries(): Record<string, string> {
  const entries = join(root, 'dist', 'sdk-entries');
  rmSync(entries, { recursive: true, force: true });
  mkdirSync(entries, { recursive: true });
  return Object.fromEntries(
    Object.entries(publicModules()).map(([name, exported]) => {
      const file = join(entries, `${name.replaceAll('/', '-')}.ts`);
      writeFileSync(file, exported.map((one) => `export ${one};\n`).join(''));
      return [name, file];
    }),
  );
}

/** What users import, and what it exports of the modules of the project. */
function publicModules(): Record<string, string[]> {
  const own = modulesOf(join(root, project, 'src')).map((name) => [name, [`* from '@plinth/sdk/${name}'`]]);
  const services = readdirSync(contracts, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const ofServices = services.flatMap(({ name }) =>
    modulesOf(join(contracts, name))
      .filter((module) => module === 'endpoints' || module === 'shapes')
      .map((module) => [`contracts/${name}/${module}`, [`* from '@plinth/contracts/${name}/${module}'`]]),
  );
  return {
    ...Object.fromEntries([...own, ...ofServices]),
    'contracts/endpoint': [
      "* from '@plinth/contracts/endpoint'",
      // Types of users are made of it, so that they have to be able to name it.
      "type { ListRules } from '@plinth/kernel/list-query'",
    ],
  };
}

const modulesOf = (source: string): string[] =>
  readdirSync(source)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => basename(name, '.ts'));

runProgram(main);
