import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModule } from '../build/load-module.ts';
import { root } from '../launcher/paths.mjs';
import type * as Document from './document.ts';

/** `npm run openapi`: writes the API description that the contracts make to `openapi/plinth.json`. */
async function main() {
  const { documentText } = await loadModule<typeof Document>('tools/openapi/document.ts');
  writeFileSync(join(root, 'openapi', 'plinth.json'), documentText());
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
