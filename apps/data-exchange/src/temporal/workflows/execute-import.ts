import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { RangePlan } from '../../app/split-into-ranges';
import type { Activities } from '../activities';
import { reasonOf } from './reason';
import { runWithConcurrency } from './run-with-concurrency';
import { shortQueueOf } from './task-queues';
import { workOptions } from './work-options';

const wholeFile: RangePlan = { count: 1, atOnce: 1, keysFirst: false };

/** Imports a mapped upload. A retry continues after the last batch that is committed and counted. */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  const { taskQueue } = workflowInfo();
  const options = workOptions(tenantId);
  const short = proxyActivities<Activities>({ ...options, taskQueue: shortQueueOf(taskQueue) });
  const long = proxyActivities<Activities>({ ...options, taskQueue });

  const importRanges = async (
    { count, atOnce: concurrency, keysFirst }: RangePlan,
    activities = long,
  ): Promise<void> => {
    if (keysFirst) {
      await runWithConcurrency(count, concurrency, async (range) => {
        await activities.readKeys({ tenantId, jobId, range, keysFirst });
        return true;
      });
      await activities.findDuplicates(tenantId, jobId);
    }
    const isComplete = await runWithConcurrency(count, concurrency, (range) =>
      activities.importRange({ tenantId, jobId, range, keysFirst, isWhole: count === 1 }),
    );
    // The rows that a cancelled job did not import are counted, which takes as long as its file.
    const { endImport } = isComplete ? short : activities;
    await endImport({ tenantId, jobId, isCancelled: !isComplete, keysFirst });
  };

  try {
    const plan = await short.planImport(tenantId, jobId);
    if (plan.kind === 'at-once') await (plan.isSmall ? short : long).importAtOnce(tenantId, jobId);
    if (plan.kind === 'whole') await importRanges(wholeFile, plan.isSmall ? short : long);
    if (plan.kind === 'ranges') await importRanges(await long.cutFile(tenantId, jobId));
  } catch (error) {
    await short.failImport(tenantId, jobId, reasonOf(error));
  }
}
