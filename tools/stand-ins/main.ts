import { build } from 'esbuild';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';

/** `npm start -- --only SERVICE` runs this: stand-ins of all other services, in one process. */
const bundle = join(root, 'node_modules', '.cache', 'stand-ins', 'program.cjs');
await build({
  entryPoints: [join(root, 'tools', 'stand-ins', 'program.ts')],
  outfile: bundle,
  tsconfig: join(root, 'tsconfig.base.json'),
  bundle: true,
  platform: 'node',
  format: 'cjs',
  packages: 'external',
  logLevel: 'silent',
});
createRequire(import.meta.url)(bundle);
