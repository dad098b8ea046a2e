import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ImportCut } from '../../jobs/plan-import';
import type { Activities } from '../activities';
import { inTurns } from './in-turns';
import { reasonOf } from './reason';
import { shortQueueOf } from './task-queues';
import { workOptions } from './work-options';

const wholeFile: ImportCut = { count: 1, atOnce: 1, keysFirst: false };

/** Imports a mapped upload. Whatever is repeated goes on after the last batch that is committed and counted. */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  const { taskQueue } = workflowInfo();
  const options = workOptions(tenantId);
  const short = proxyActivities<Activities>({ ...options, taskQueue: shortQueueOf(taskQueue) });
  const long = proxyActivities<Activities>({ ...options, taskQueue });

  const importInTurns = async ({ count, atOnce, keysFirst }: ImportCut, work = long): Promise<void> => {
    if (keysFirst) {
      await inTurns(count, atOnce, async (range) => {
        await work.readKeys({ tenantId, jobId, range, keysFirst });
        return true;
      });
      await work.findDuplicates(tenantId, jobId);
    }
    const isWhole = await inTurns(count, atOnce, (range) =>
      work.importRange({ tenantId, jobId, range, keysFirst }),
    );
    // What a cancelled job did not do is counted, which takes as long as its file.
    const { endImport } = isWhole ? short : work;
    await endImport({ tenantId, jobId, isCancelled: !isWhole, keysFirst });
  };

  try {
    const way = await short.planImport(tenantId, jobId);
    if (way.kind === 'at-once') await (way.isSmall ? short : long).importAtOnce(tenantId, jobId);
    if (way.kind === 'whole') await importInTurns(wholeFile, way.isSmall ? short : long);
    if (way.kind === 'ranges') await importInTurns(await long.cutFile(tenantId, jobId));
  } catch (error) {
    await short.failImport(tenantId, jobId, reasonOf(error));
  }
}
