import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../launcher/paths.mjs';
import { compressAssets } from './compress-assets.ts';
import { isNewer } from './is-newer.ts';
import { findScalar } from './scalar.ts';

export const REFERENCE = 'reference';
const folder = join(root, 'apps', REFERENCE);
const page = join(root, 'dist/apps', REFERENCE, 'index.html');

/** Whether the built API reference is older than what it is made from. */
export const isReferenceOutdated = (): boolean =>
  !isNewer(page, [folder, join(import.meta.dirname, 'scalar.ts')]);

/** Builds the API reference to `dist/apps/reference`, from where the gateway serves it. */
export async function bundleReference(): Promise<void> {
  const scalar = await findScalar();
  await build({
    configFile: join(folder, 'vite.config.ts'),
    resolve: { alias: { '@scalar/api-reference': scalar } },
    plugins: [compressAssets()],
    logLevel: 'error',
  });
}
