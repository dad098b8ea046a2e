import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
  type ActivityInterfaceFor,
} from '@temporalio/workflow';
import type { RangePlan } from '../../app/split-into-ranges';
import type { Activities } from '../activities';
import { LOST_PROGRESS, TOO_LONG } from './failure-types';
import { endedItsProcesses, reasonOf } from './reason';
import { numberOf, runWithConcurrency } from './run-with-concurrency';
import { shortQueueOf } from './task-queues';
import { workOptions } from './work-options';

type Long = ActivityInterfaceFor<Activities>;

/** What begins anew again and again, for whatever reason, leaves workers for others until somebody cancels the job. */
const PAUSE = '1 second';

const wholeFile: RangePlan = { count: 1, atOnce: 1, keysFirst: false };

/**
 * Imports a mapped upload. A retry continues after the last batch that is committed and counted. What is done the database
 * says, which may know less by now than this workflow was told, and is told that in turn.
 */
export async function executeImport(tenantId: string, jobId: string): Promise<void> {
  const { taskQueue } = workflowInfo();
  const options = workOptions(tenantId);
  const short = proxyActivities<Activities>({ ...options, taskQueue: shortQueueOf(taskQueue) });
  const long = proxyActivities<Activities>({ ...options, taskQueue });

  const onLong = <Result>(work: (activities: Long) => Promise<Result>): Promise<Result> => work(long);
  /** What turns out to be long does not hold up others there: a small workbook may have very many rows. */
  const onShort: typeof onLong = (work) =>
    work(short).catch((error: unknown) => {
      if (!isFailure(error, TOO_LONG)) throw error;
      return work(long);
    });
  const movesOn = true;

  const importRanges = async (
    { count, atOnce: concurrency, keysFirst }: RangePlan,
    run = onLong,
  ): Promise<void> => {
    let duplicates = 0;
    if (keysFirst) {
      const read = await runWithConcurrency(count, concurrency, (range) =>
        long.readKeys({ tenantId, jobId, range, keysFirst }),
      );
      duplicates = numberOf(await long.findDuplicates(tenantId, jobId, read.sum));
    }
    const isWhole = count === 1;
    const { isComplete, sum: batches } = await runWithConcurrency(count, concurrency, (range) =>
      run(({ importRange }) =>
        importRange({ tenantId, jobId, range, keysFirst, isWhole, movesOn, duplicates }),
      ),
    );
    // The rows that a cancelled job did not import are counted, which takes as long as its file.
    const end = { tenantId, jobId, isCancelled: !isComplete, keysFirst, movesOn, batches };
    await (isComplete ? onShort : run)(({ endImport }) => endImport(end));
  };

  try {
    const plan = await short.planImport(tenantId, jobId);
    const run = plan.kind !== 'ended' && plan.kind !== 'ranges' && plan.isSmall ? onShort : onLong;
    if (plan.kind === 'at-once') await run((to) => to.importAtOnce(tenantId, jobId, movesOn));
    if (plan.kind === 'whole') await importRanges(wholeFile, run);
    if (plan.kind === 'ranges') await importRanges(await long.cutFile(tenantId, jobId));
  } catch (error) {
    if (isFailure(error, LOST_PROGRESS)) {
      await sleep(PAUSE);
      await continueAsNew<typeof executeImport>(tenantId, jobId);
    }
    const isSuspect = endedItsProcesses(error);
    await onShort((to) => to.failImport(tenantId, jobId, reasonOf(error), movesOn, isSuspect));
  }
}

const isFailure = (error: unknown, type: typeof TOO_LONG | typeof LOST_PROGRESS): boolean =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === type;
