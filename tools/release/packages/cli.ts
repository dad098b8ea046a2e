import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'tsup';
import { root } from '../../development/launcher/paths.mjs';
import { completePackage, manifestOf, pack, runProgram } from './npm-package.ts';

const project = 'apps/cli';
const [, , given] = process.argv;
const folder = resolve(given ?? join(root, 'dist', 'cli'));

/** `npx` fetches it each time that it is new, so its size is part of its first second. */
const budget = { packedBytesMax: 430_000, unpackedBytesMax: 1_400_000 };

/**
 * `npm run cli:pack`: bundles the command line into one file that needs nothing but Node, and packs it to
 * `dist/plinth-cli-<version>.tgz`; with the path of a folder it only writes what is packed there.
 */
async function main() {
  const manifest = manifestOf(project);
  // The bundler reads the kind of modules from the manifest in the working directory.
  process.chdir(join(root, project));
  await build({
    config: false,
    entry: { plinth: join(root, project, 'src/plinth.ts') },
    outDir: folder,
    tsconfig: join(root, 'tsconfig.base.json'),
    format: 'esm',
    platform: 'node',
    target: 'node22',
    noExternal: [/.*/],
    minify: true,
    silent: true,
    define: { CLI_VERSION: JSON.stringify(manifest.version) },
    banner: {
      // Packages that are CommonJS ask for parts of Node by `require`.
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
    },
  });
  chmodSync(join(folder, 'plinth.js'), 0o755);
  completePackage(folder, project, manifest);
  if (given === undefined) pack(folder, budget);
}

runProgram(main);
