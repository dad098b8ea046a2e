import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchLine } from './bench-line.ts';
import { importFile, signInToTenant } from './exchange-jobs.ts';
import { writeCsv } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { seconds } from './times.ts';

/** Until the new worker has polled for work and the other workers know of it. */
const ARRIVAL_MILLISECONDS = 5_000;

/** How the import of one large file scales with the workers that share it; `counts` grow. */
export const benchWorkers = (
  target: BenchTarget,
  rowCount: number,
  counts: readonly number[],
): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowCount);
    const startWorker = workerStarter(target);
    const further: ChildProcess[] = [];
    const lines: BenchLine[] = [];
    let alone: number | undefined;
    try {
      for (const count of counts) {
        while (further.length < count - 1) further.push(startWorker());
        await pause(ARRIVAL_MILLISECONDS);
        const taken = await importFile(await signInToTenant(target), file, rowCount);
        alone ??= taken;
        lines.push({
          job: `import of ${rowCount.toLocaleString('en')} rows by ${count} worker${count > 1 ? 's' : ''}`,
          measured: seconds(taken),
          reference: `${(alone / taken).toFixed(2)} x as fast as by ${counts[0]}, on the cores that everything shares`,
        });
      }
      return lines;
    } finally {
      for (const worker of further) {
        worker.kill();
        await once(worker, 'exit');
      }
    }
  });

/** Makes a function that starts one more worker, just as the platform started its own. */
export function workerStarter({ processes }: BenchTarget): () => ChildProcess {
  const worker = processes.find(({ name }) => name === 'data-exchange-worker');
  if (!worker) throw new Error('The data exchange worker is not running.');
  const partsOf = (file: string) =>
    readFileSync(`/proc/${worker.pid}/${file}`, 'utf8').split('\0').slice(0, -1);
  const [program, ...args] = partsOf('cmdline');
  const environment = partsOf('environ').map((entry) => entry.split(/=(.*)/s).slice(0, 2));
  const env = { ...Object.fromEntries(environment), ADMIN_PORT: '0' };
  return () => spawn(program!, args, { env, stdio: 'ignore' });
}
