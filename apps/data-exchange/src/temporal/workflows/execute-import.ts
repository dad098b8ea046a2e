import { proxyActivities, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities';
import { shortQueueOf } from './task-queues';
import { inTurns } from './in-turns';
import { reasonOf } from './reason';

/** Imports a mapped upload. Whatever is repeated goes on after the last batch that is committed and counted. */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  const { taskQueue } = workflowInfo();
  const options: ActivityOptions = {
    // A part of an import lasts as long as its rows; a worker that died is noticed by its silence.
    startToCloseTimeout: '7 days',
    heartbeatTimeout: '15 seconds',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
    // Where the server knows how, tenants get their turns before jobs do.
    priority: { fairnessKey: tenantId },
  };
  const short = proxyActivities<Activities>({ ...options, taskQueue: shortQueueOf(taskQueue) });
  const long = proxyActivities<Activities>({ ...options, taskQueue });

  const importRanges = async (count: number, atOnce: number, keysFirst: boolean): Promise<void> => {
    // What fits into one range does not wait behind the ranges of large files.
    const { importRange } = count === 1 ? short : long;
    if (keysFirst) {
      await inTurns(count, atOnce, async (range) => {
        await long.readKeys({ tenantId, jobId, range, keysFirst });
        return true;
      });
      await long.findDuplicates(tenantId, jobId);
    }
    const isWhole = await inTurns(count, atOnce, (range) =>
      importRange({ tenantId, jobId, range, keysFirst }),
    );
    await short.endImport({ tenantId, jobId, isCancelled: !isWhole, keysFirst });
  };

  try {
    const way = await short.planImport(tenantId, jobId);
    if (way.kind === 'at-once') await long.importAtOnce(tenantId, jobId);
    if (way.kind === 'ranges') await importRanges(way.count, way.atOnce, way.keysFirst);
  } catch (error) {
    await short.failImport(tenantId, jobId, reasonOf(error));
  }
}
