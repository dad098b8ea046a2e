import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { root } from '../launcher/paths.mjs';

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
  // CommonJS does not know where it lives; Prisma's generated client asks.
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'silent',
} as const satisfies BuildOptions;
