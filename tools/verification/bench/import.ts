import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { BenchLine } from './bench-line.ts';
import { execute, exportRows, importFile, mapFile, signInToTenant } from './exchange-jobs.ts';
import { vacuumTable, timeCopyIn, timeCopyOut, timeWorkbook } from './exchange-references.ts';
import { writeCsv } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { describeUsage, watchProcesses, type ProcessUsage } from './processes.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { median, seconds, timeOf } from './times.ts';

const BROKEN_EVERY = 10;
const WARM_UP_ROWS = 100_000;
const EXPORTS = 3;

/**
 * Rows of real names from the upload to the last commit and back, against the database and the library alone. `only`
 * names what is measured by a part of its name; the rows are imported in any case.
 */
export const benchImport = (
  target: BenchTarget,
  { rowCount, only }: { rowCount: number; only: readonly string[] },
): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    const count = `${rowCount.toLocaleString('en')} rows`;
    await warmUp(target, file);
    await writeCsv(file, rowCount);
    const tenantId = randomUUID();
    const client = await signInToTenant(target, tenantId);
    const jobs: [string, Measurement][] = [
      [
        `import of ${count}, upload to committed rows`,
        {
          work: () => importFile(client, file, rowCount),
          reference: ['COPY', () => timeCopyIn(target, folder, rowCount)],
          goal: 2.5,
        },
      ],
      [
        `export of ${count} to CSV`,
        {
          work: () => exportRows(client, 'csv', rowCount),
          reference: ['COPY TO', () => timeCopyOut(target, tenantId)],
          goal: 2.5,
          rounds: EXPORTS,
        },
      ],
      [
        `export of ${count} to xlsx`,
        {
          work: () => exportRows(client, 'xlsx', rowCount),
          reference: ['exceljs alone', () => timeWorkbook(folder, rowCount)],
          goal: 1.3,
          rounds: EXPORTS,
        },
      ],
    ];
    const lines: BenchLine[] = [];
    for (const [index, [job, measurement]] of jobs.entries()) {
      const isWanted = only.length === 0 || only.some((part) => job.includes(part));
      if (isWanted) lines.push(await lineOf(target, job, measurement));
      else if (index === 0) await measurement.work();
      if (index === 0) await vacuumTable(target);
    }
    return lines;
  });

/** In a process that has just started most code is not compiled yet. */
async function warmUp(target: BenchTarget, file: string): Promise<void> {
  const client = await signInToTenant(target);
  await writeCsv(file, WARM_UP_ROWS);
  await importFile(client, file, WARM_UP_ROWS);
  for (const format of ['csv', 'xlsx']) await exportRows(client, format, WARM_UP_ROWS);
}

/** The steps for a file with errors: every tenth row has one. */
export const benchCorrections = (target: BenchTarget, rowCount: number): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowCount, BROKEN_EVERY);
    const client = await signInToTenant(target);
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
  /** Returns how many milliseconds it took. */
  work(): Promise<number>;
  /** What it is compared with, measured right before it. */
  reference?: readonly [name: string, work: () => Promise<number>];
  goal?: number;
  /** How often both are measured, alternately. The medians count, and what the last one used. */
  rounds?: number;
}

/** Measures a job, and what each process used for it. */
async function lineOf(
  target: BenchTarget,
  job: string,
  { work, reference, goal, rounds = 1 }: Measurement,
): Promise<BenchLine> {
  const taken: number[] = [];
  const expected: number[] = [];
  let usage: ProcessUsage[] = [];
  while (taken.length < rounds) {
    if (reference) expected.push(await reference[1]());
    const end = watchProcesses(target.processes);
    taken.push(await work());
    usage = end();
  }
  const peak = Math.round(usage.find((one) => one.name === 'data-exchange-worker')?.peakMegabytes ?? 0);
  return {
    job,
    measured: `${seconds(median(taken))}, worker's peak ${peak} MB`,
    ...(reference
      ? {
          reference: `${reference[0]} ${seconds(median(expected))}`,
          ratio: median(taken) / median(expected),
        }
      : {}),
    ...(goal === undefined ? {} : { goal }),
    details: describeUsage(usage),
  };
}
