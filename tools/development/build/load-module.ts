import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../launcher/paths.mjs';
import { bundleOptions } from './bundle-options.ts';

/** Loads a module of the project into plain Node, which does not know our aliases. @param path from the root */
export async function loadModule<Module>(path: string): Promise<Module> {
  const bundle = join(root, 'node_modules', '.cache', 'modules', path.replace(/\.ts$/, '.cjs'));
  await build({ ...bundleOptions, entryPoints: [path], outfile: bundle });
  return createRequire(import.meta.url)(bundle) as Module;
}
