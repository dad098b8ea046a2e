import { parseArgs } from 'node:util';
import { demoTenant } from '../launcher/environment.mjs';
import { readCldrRows } from './cldr-rows.ts';
import { signIn, UnexpectedResult } from './client.ts';
import { runJourney } from './journey.ts';
import { print } from './progress.ts';

/** The main job of the platform on a real file, against the platform at `PLINTH_URL`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string' }, tenant: { type: 'string', default: demoTenant.id } },
    strict: false,
  });
  const url = process.env['PLINTH_URL'] ?? 'http://localhost:8080';
  const client = await signIn(url, { sub: 'demo', name: 'Demo', tenantId: String(values.tenant) });
  const rows = readCldrRows(values.rows === undefined ? Infinity : Number(values.rows));
  await runJourney(client, rows);
}

main().catch((error: unknown) => {
  print(
    error instanceof UnexpectedResult
      ? `Unexpected: ${error.message}`
      : String((error as Error).stack ?? error),
  );
  process.exitCode = 1;
});
