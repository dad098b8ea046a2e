import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModule } from '../../development/build/load-module.ts';
import { root } from '../../development/launcher/paths.mjs';
import type * as Surfaces from './surface.ts';

const released = join(root, 'openapi', 'released');
const parts = ['api', 'events', 'proto'] as const;

/** `npm run contracts`: lists breaking changes since the last release. `npm run contracts:release` records a new one. */
async function main() {
  const { breaksOf, currentSurface } = await loadModule<typeof Surfaces>(
    'tools/release/contracts-diff/surface.ts',
  );
  const current = currentSurface();
  if (process.argv.includes('--release')) {
    mkdirSync(released, { recursive: true });
    for (const part of parts) {
      writeFileSync(join(released, `${part}.json`), `${JSON.stringify(current[part], null, 2)}\n`);
    }
    return;
  }
  const read = (part: string) => JSON.parse(readFileSync(join(released, `${part}.json`), 'utf8'));
  const before: Surfaces.Surface = { api: read('api'), events: read('events'), proto: read('proto') };
  const breaks = breaksOf(before, current);
  if (breaks.length === 0) return console.log('No breaking changes since the last release.');
  console.error(`Breaking changes since the last release:\n${breaks.map((one) => `  ${one}\n`).join('')}`);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
