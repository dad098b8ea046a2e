import { join } from 'node:path';
import type { BenchLine } from './bench-line.ts';
import { execute, exportRows, importFile, mapFile, newcomer } from './exchange-jobs.ts';
import { settleTable, timeCopy, timeWorkbook } from './exchange-references.ts';
import { writeCsv } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { describeUsage, watchProcesses } from './processes.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { seconds, timeOf } from './times.ts';

const BROKEN_EVERY = 10;
const WARM_UP_ROWS = 100_000;

/** Rows of real names from the upload to the last commit and back, against the database and the library alone. */
export const benchImport = (target: BenchTarget, rowCount: number): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    const count = `${rowCount.toLocaleString('en')} rows`;
    await warmUp(target, file);
    await writeCsv(file, rowCount);
    const copied = await timeCopy(target, folder, rowCount);
    const client = await newcomer(target);
    const imported = await lineOf(target, `import of ${count}, upload to committed rows`, {
      work: () => importFile(client, file, rowCount),
      reference: ['COPY', copied.write],
      goal: 2.5,
    });
    await settleTable(target);
    return [
      imported,
      await lineOf(target, `export of ${count} to CSV`, {
        work: () => exportRows(client, 'csv', rowCount),
        reference: ['COPY TO', copied.read],
        goal: 2.5,
      }),
      await lineOf(target, `export of ${count} to xlsx`, {
        work: () => exportRows(client, 'xlsx', rowCount),
        reference: ['exceljs alone', await timeWorkbook(folder, rowCount)],
        goal: 1.3,
      }),
    ];
  });

/** A process that has just started has most of its code still to compile. */
async function warmUp(target: BenchTarget, file: string): Promise<void> {
  const client = await newcomer(target);
  await writeCsv(file, WARM_UP_ROWS);
  await importFile(client, file, WARM_UP_ROWS);
  for (const format of ['csv', 'xlsx']) await exportRows(client, format, WARM_UP_ROWS);
}

/** What people do with a file that is not all right, every tenth row being wrong. */
export const benchCorrections = (target: BenchTarget, rowCount: number): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowCount, BROKEN_EVERY);
    const client = await newcomer(target);
    const jobId = await mapFile(client, file);
    const count = `${rowCount.toLocaleString('en')} rows`;
    const failed = `${Math.floor(rowCount / BROKEN_EVERY).toLocaleString('en')} failed rows`;
    return [
      await lineOf(target, `dry-run of ${count}`, {
        work: () => timeOf(() => client.call('POST', `/imports/${jobId}/dry-run`)),
      }),
      await lineOf(target, `import of ${count} with ${failed}`, {
        work: () => timeOf(() => execute(client, jobId)),
      }),
      await lineOf(target, `report with ${failed}`, {
        work: () => timeOf(() => client.call('GET', `/imports/${jobId}/report`)),
      }),
      await lineOf(target, `correction file of ${failed}`, {
        work: () => timeOf(() => client.call('GET', `/imports/${jobId}/correction-file`)),
      }),
    ];
  });

interface Measurement {
  /** Answers how many milliseconds it took. */
  work(): Promise<number>;
  reference?: readonly [name: string, milliseconds: number];
  goal?: number;
}

/** Measures something and what each process used for it. */
async function lineOf(
  target: BenchTarget,
  job: string,
  { work, reference: [name, expected] = ['', 0], goal }: Measurement,
): Promise<BenchLine> {
  const end = watchProcesses(target.processes);
  const taken = await work();
  const usage = end();
  const peak = Math.round(usage.find((one) => one.name === 'data-exchange-worker')?.peakMegabytes ?? 0);
  return {
    job,
    measured: `${seconds(taken)}, worker's peak ${peak} MB`,
    ...(name === '' ? {} : { reference: `${name} ${seconds(expected)}`, ratio: taken / expected }),
    ...(goal === undefined ? {} : { goal }),
    details: describeUsage(usage),
  };
}
