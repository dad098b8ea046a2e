import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import Papa from 'papaparse';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { readCldrRows, type Row } from '../demo/cldr-rows.ts';
import { signIn, type Client } from '../demo/client.ts';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** Rows of real names from the upload to the last commit, against a raw COPY of the same rows into the same table. */
export async function benchImport(target: BenchTarget, rowsMax = 200_000): Promise<BenchLine[]> {
  const rows = repeat(readCldrRows(), rowsMax);
  const copied = await copy(target, rows);
  const tenantId = randomUUID();
  const client = await signIn(target.url, { sub: 'bench', name: 'Bench', tenantId });
  const imported = await importRows(client, rows);
  const exported = await exportRows(client, rows.length);
  const peak = `worker's peak ${Math.round(peakMegabytes(target.workerPid))} MB`;
  const count = rows.length.toLocaleString('en');
  return [
    {
      job: `import of ${count} rows, upload to committed rows`,
      measured: `${seconds(imported)}, ${peak}`,
      reference: `COPY ${seconds(copied.write)}`,
      ratio: imported / copied.write,
      goal: 4,
    },
    {
      job: `export of ${count} rows to CSV`,
      measured: seconds(exported),
      reference: `COPY TO ${seconds(copied.read)}`,
      ratio: exported / copied.read,
    },
  ];
}

/** More rows than there are names: the same names under further keys. */
function repeat(names: readonly Row[], count: number): Row[] {
  return Array.from({ length: count }, (_, index) => {
    const [resource, culture, key, value] = names[index % names.length]!;
    const round = Math.floor(index / names.length);
    return round === 0 ? [resource, culture, key, value] : [resource, culture, `${key}.${round}`, value];
  });
}

async function copy(target: BenchTarget, rows: readonly Row[]): Promise<{ write: number; read: number }> {
  const client = new pg.Client({ connectionString: target.adminUrlOf('localization') });
  await client.connect();
  const tenantId = randomUUID();
  const escape = (text: string) => text.replace(/[\\\t\n\r]/g, (character) => `\\${character}`);
  const lines = rows
    .map((row) => `${tenantId}\t${randomUUID()}\tbench\t${row.map(escape).join('\t')}\n`)
    .join('');
  try {
    const began = performance.now();
    await pipeline(
      Readable.from(chunks(lines)),
      client.query(
        copyFrom(
          'COPY override (tenant_id, id, modified_by, resource_name, culture_name, key, value) FROM STDIN',
        ),
      ),
    );
    const write = performance.now() - began;
    const readBegan = performance.now();
    await client.query({
      text: `SELECT resource_name, culture_name, key, value FROM override WHERE tenant_id = $1
             ORDER BY resource_name, culture_name, key`,
      values: [tenantId],
      rowMode: 'array',
    });
    return { write, read: performance.now() - readBegan };
  } finally {
    await client.query('DELETE FROM override WHERE tenant_id = $1', [tenantId]);
    await client.end();
  }
}

function* chunks(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 65_536) yield text.slice(at, at + 65_536);
}

async function importRows(client: Client, rows: readonly Row[]): Promise<number> {
  const csv = Papa.unparse([['resource', 'culture', 'key', 'value'], ...rows]);
  const began = performance.now();
  const { body: job } = await client.call('POST', '/imports', {
    form: () => {
      const form = new FormData();
      form.append('file', new Blob([csv]), 'bench.csv');
      form.append('definitionName', 'Localization.Overrides');
      return form;
    },
  });
  const { body: preview } = await client.call('POST', `/imports/${job.id}/preview`);
  await client.call('PUT', `/imports/${job.id}/mappings`, { body: { mappings: preview.suggestions } });
  await client.call('POST', `/imports/${job.id}/execute`);
  await untilEnded(client, `/imports/${job.id}`, ['Completed']);
  const elapsed = performance.now() - began;
  const { body: report } = await client.call('GET', `/imports/${job.id}/report`);
  if (report.insertedRows !== rows.length)
    throw new Error(`${report.insertedRows} of ${rows.length} rows were inserted.`);
  return elapsed;
}

async function exportRows(client: Client, expected: number): Promise<number> {
  const began = performance.now();
  const { body: job } = await client.call('POST', '/exports/jobs', {
    body: { definitionName: 'Localization.Overrides', format: 'csv' },
  });
  const ended = await untilEnded(client, `/exports/jobs/${job.id}`, ['Completed']);
  const elapsed = performance.now() - began;
  if (ended.rowCount !== expected) throw new Error(`${ended.rowCount} of ${expected} rows were exported.`);
  return elapsed;
}

async function untilEnded(client: Client, path: string, good: readonly string[]) {
  for (;;) {
    const { body } = await client.call('GET', path);
    if (good.includes(body.status)) return body;
    if (['Failed', 'Cancelled', 'PartiallyCompleted'].includes(body.status))
      throw new Error(`${path} ended ${body.status}.`);
    await pause(100);
  }
}

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
