import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import Papa from 'papaparse';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { readCldrRows, type Row } from '../demo/cldr-rows.ts';
import { signIn, type Client } from '../demo/client.ts';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { describeUsage, watchProcesses } from './processes.ts';

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
const PIECE_ROWS = 1_000;

/** Rows of real names from the upload to the last commit, against a raw COPY of the same rows into the same table. */
export async function benchImport(target: BenchTarget, rowsMax = 200_000): Promise<BenchLine[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-'));
  try {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowsMax);
    const copied = await copy(target, rowsMax);
    const client = await signIn(target.url, { sub: 'bench', name: 'Bench', tenantId: randomUUID() });
    const imported = await measured(target, () => importFile(client, file, rowsMax));
    const exported = await measured(target, () => exportRows(client, rowsMax));
    const count = rowsMax.toLocaleString('en');
    return [
      {
        job: `import of ${count} rows, upload to committed rows`,
        measured: `${seconds(imported.result)}, worker's peak ${imported.workerPeak} MB`,
        reference: `COPY ${seconds(copied.write)}`,
        ratio: imported.result / copied.write,
        goal: 2.5,
        details: imported.usage,
      },
      {
        job: `export of ${count} rows to CSV`,
        measured: `${seconds(exported.result)}, worker's peak ${exported.workerPeak} MB`,
        reference: `COPY TO ${seconds(copied.read)}`,
        ratio: exported.result / copied.read,
        goal: 2.5,
        details: exported.usage,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs something and tells what each process used for it. */
async function measured<Result>(target: BenchTarget, run: () => Promise<Result>) {
  const end = watchProcesses(target.processes);
  const result = await run();
  const usage = end();
  const worker = usage.find(({ name }) => name === 'data-exchange-worker');
  return { result, usage: describeUsage(usage), workerPeak: Math.round(worker?.peakMegabytes ?? 0) };
}

/** More rows than there are names: the same names under further keys. */
function* manyRows(count: number): Generator<Row[]> {
  const names = readCldrRows();
  for (let done = 0; done < count; done += PIECE_ROWS) {
    yield Array.from({ length: Math.min(PIECE_ROWS, count - done) }, (_, at): Row => {
      const index = done + at;
      const [resource, culture, key, value] = names[index % names.length]!;
      const round = Math.floor(index / names.length);
      return round === 0 ? [resource, culture, key, value] : [resource, culture, `${key}.${round}`, value];
    });
  }
}

async function writeCsv(path: string, rowCount: number): Promise<void> {
  const lines = function* () {
    yield 'resource,culture,key,value\r\n';
    for (const rows of manyRows(rowCount)) yield `${Papa.unparse(rows)}\r\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

async function copy(target: BenchTarget, rowCount: number): Promise<{ write: number; read: number }> {
  const client = new pg.Client({ connectionString: target.adminUrlOf('localization') });
  await client.connect();
  const tenantId = randomUUID();
  const escape = (text: string) => text.replace(/[\\\t\n\r]/g, (character) => `\\${character}`);
  // Made before the clock runs: the reference is the database alone.
  const pieces = [...manyRows(rowCount)].map((rows) =>
    Buffer.from(
      rows.map((row) => `${tenantId}\t${randomUUID()}\tbench\t${row.map(escape).join('\t')}\n`).join(''),
    ),
  );
  try {
    const began = performance.now();
    await pipeline(
      Readable.from(pieces),
      client.query(
        copyFrom(
          'COPY override (tenant_id, id, modified_by, resource_name, culture_name, key, value) FROM STDIN',
        ),
      ),
    );
    const write = performance.now() - began;
    const readBegan = performance.now();
    await pipeline(
      client.query(
        copyTo(
          `COPY (SELECT resource_name, culture_name, key, value FROM override WHERE tenant_id = '${tenantId}'
                 ORDER BY resource_name, culture_name, key) TO STDOUT`,
        ),
      ),
      new Writable({ write: (_chunk, _encoding, done) => done() }),
    );
    return { write, read: performance.now() - readBegan };
  } finally {
    await client.query('DELETE FROM override WHERE tenant_id = $1', [tenantId]);
    await client.end();
  }
}

async function importFile(client: Client, path: string, rowCount: number): Promise<number> {
  const csv = await openAsBlob(path);
  const began = performance.now();
  const { body: job } = await client.call('POST', '/imports', {
    form: () => {
      const form = new FormData();
      form.append('file', csv, 'bench.csv');
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
  if (report.insertedRows !== rowCount)
    throw new Error(`${report.insertedRows} of ${rowCount} rows were inserted.`);
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
