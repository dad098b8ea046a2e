import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { loadModule } from '../../development/build/load-module.ts';
import { root } from '../../development/launcher/paths.mjs';
import type * as Document from './document.ts';
import type * as Limits from './limits-page.ts';

const documentFile = join(root, 'openapi', 'plinth.json');
const limitsFile = join(root, 'docs', 'limits-of-each-call.md');

/**
 * `npm run openapi`: generates `openapi/plinth.json` and `docs/limits-of-each-call.md` from the contracts; with `--check`
 * it only checks whether they are stale.
 */
async function main() {
  const { documentText } = await loadModule<typeof Document>('tools/release/openapi/document.ts');
  const { limitsPage } = await loadModule<typeof Limits>('tools/release/openapi/limits-page.ts');
  const options = await prettier.resolveConfig(limitsFile);
  const page = await prettier.format(limitsPage(readProtos()), { ...options, filepath: limitsFile });
  for (const [file, text] of [
    [documentFile, documentText()],
    [limitsFile, page],
  ] as const) {
    if (!process.argv.includes('--check')) writeFileSync(file, text);
    else if (readFileSync(file, 'utf8') !== text)
      throw new Error(`${file} is stale: run \`npm run openapi\`.`);
  }
}

function readProtos(): Record<string, string> {
  const folder = join(root, 'libs', 'proto');
  const names = readdirSync(folder).filter((name) => name.endsWith('.proto'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
