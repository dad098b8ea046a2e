import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../launcher/paths.mjs';
import { compressAssets } from './compress-assets.ts';
import { contractsAsData } from './contracts-as-data.ts';
import { earlyScript } from './early-script.ts';
import { isNewer } from './is-newer.ts';
import { pageScripts } from './page-scripts.ts';

export const CONSOLE = 'console';
const folder = join(root, 'apps', CONSOLE);
const page = join(root, 'dist/apps', CONSOLE, 'index.html');

/** Whether the built console is older than what it is made from. */
export const isConsoleOutdated = (): boolean =>
  existsSync(folder) &&
  !isNewer(page, [
    folder,
    join(import.meta.dirname, 'contracts-as-data.ts'),
    join(import.meta.dirname, 'early-script.ts'),
    join(import.meta.dirname, 'page-scripts.ts'),
    ...['contracts', 'kernel', 'sdk'].map((name) => join(root, 'libs', name, 'src')),
  ]);

/** Builds the files of the console to `dist/apps/console`, from where the gateway serves them. */
export async function bundleConsole(): Promise<void> {
  // Whoever builds, such as a test: browsers get React without its checks for development.
  process.env['NODE_ENV'] = 'production';
  await build({
    configFile: join(folder, 'vite.config.ts'),
    plugins: [
      contractsAsData(),
      earlyScript(join(folder, 'src/start.ts')),
      pageScripts(join(folder, 'src/router.tsx')),
      compressAssets(),
    ],
    logLevel: 'error',
  });
}
