import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModule } from '../../development/build/load-module.ts';
import { root } from '../../development/launcher/paths.mjs';
import type * as Document from './document.ts';

/** `npm run openapi`: generates `openapi/plinth.json` from the contracts. */
async function main() {
  const { documentText } = await loadModule<typeof Document>('tools/release/openapi/document.ts');
  writeFileSync(join(root, 'openapi', 'plinth.json'), documentText());
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
