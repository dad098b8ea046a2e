import { build } from 'esbuild';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../launcher/paths.mjs';

/** `npm run openapi`: writes the API description that the contracts make to `openapi/plinth.json`. */
async function main() {
  const bundle = join(root, 'node_modules', '.cache', 'openapi', 'document.mjs');
  await build({
    entryPoints: [join(root, 'tools', 'openapi', 'document.ts')],
    outfile: bundle,
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  const { documentText } = (await import(pathToFileURL(bundle).href)) as { documentText: () => string };
  writeFileSync(join(root, 'openapi', 'plinth.json'), documentText());
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
