import { join } from 'node:path';
import type { BenchLine } from './bench-line.ts';
import { execute, importFile, mapFile, signInToTenant } from './exchange-jobs.ts';
import { writeCsv } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { median, seconds } from './times.ts';

const SMALL_ROWS = 1_000;
const SMALL_FILES = 15;
/** The first imports of a platform that was just started are slow, with or without a large one. */
const WARM_UP = 5;

/** What one tenant's small files take while another tenant imports a very large one. */
export const benchImportFairness = (target: BenchTarget, largeRows: number): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const [small, large] = [join(folder, 'small.csv'), join(folder, 'large.csv')];
    await writeCsv(small, SMALL_ROWS);
    await writeCsv(large, largeRows);
    const timeSmall = async () => importFile(await signInToTenant(target), small, SMALL_ROWS);
    const timesOf = async (count: number, isOver = () => false) => {
      const times: number[] = [];
      while (times.length < count && !isOver()) times.push(await timeSmall());
      return times;
    };

    await timesOf(WARM_UP);
    const alone = median(await timesOf(SMALL_FILES));
    const largeTenant = await signInToTenant(target);
    const jobId = await mapFile(largeTenant, large);
    let hasEnded = false;
    const importing = execute(largeTenant, jobId).finally(() => {
      hasEnded = true;
    });
    const beside = await timesOf(SMALL_FILES, () => hasEnded);
    if (hasEnded) throw new Error(`${largeRows} rows were imported too soon; take more --rows.`);
    await largeTenant.call('DELETE', `/imports/${jobId}`);
    await importing.catch(() => undefined);
    return [
      {
        job: `import of ${SMALL_ROWS} rows beside one of ${largeRows.toLocaleString('en')} of another tenant`,
        measured: `median ${seconds(median(beside))}, longest ${seconds(Math.max(...beside))}`,
        reference: `alone ${seconds(alone)}`,
        ratio: median(beside) / alone,
        goal: 2,
      },
    ];
  });
