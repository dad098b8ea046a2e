import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { root } from '../launcher/paths.mjs';

/** CommonJS does not know where it lives; Prisma's generated client asks. */
const IMPORT_META_URL = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;";
/** The maps of all packages would take 10 MB of each process; traces name the lines that they ship instead. */
const OWN_SOURCE_MAPS =
  "if (process.sourceMapsEnabled) require('node:module').setSourceMapsSupport(true, { nodeModules: false });";

/** How everything of the project becomes a program that Node runs: with our aliases, without the packages. */
export const bundleOptions = {
  absWorkingDir: root,
  tsconfig: join(root, 'tsconfig.base.json'),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  packages: 'external',
  sourcemap: true,
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: [IMPORT_META_URL, OWN_SOURCE_MAPS].join(' ') },
  logLevel: 'silent',
} as const satisfies BuildOptions;
