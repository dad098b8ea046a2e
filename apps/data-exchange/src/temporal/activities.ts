import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { endImport, failImport, type ImportToEnd } from '../app/end-import';
import { importInSingleTransaction } from '../app/import-in-single-transaction';
import { importRange, type RangeToImport } from '../app/import-range';
import { planImport } from '../app/plan-import';
import { readKeys } from '../app/read-keys';
import { runExport, type ExportDependencies } from '../app/run-export';
import { splitIntoRanges, type SplitDependencies } from '../app/split-into-ranges';
import { failUndo, undoImport, type UndoDependencies } from '../app/undo-import';
import { failureOf, isLastAttempt } from './job-failure';
import { WholeJobs } from './whole-jobs';
import { isShortQueue } from './workflows/task-queues';

/** The id of a workflow begins with the id of its job. */
const JOB_ID_LENGTH = 36;
/** So often that a worker may stand still for most of the time after which it counts as crashed. */
const HEARTBEAT_MILLISECONDS = 250;

/**
 * The activities by the names that recorded workflow histories have for them, so these and their arguments stay:
 * `cutFile` splits a file into ranges, `importAtOnce` imports it in a single transaction.
 */
export const createActivities = (
  dependencies: SplitDependencies & UndoDependencies & ExportDependencies & { log: Log },
) => {
  const run = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    withHeartbeat(dependencies.log, work);
  const [longJobs, shortJobs] = [WholeJobs.long(), WholeJobs.short()];
  /** Runs what keeps its place until the rows of the job are done. */
  const runWhole = <Result>(
    tenantId: string,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    const jobs = isShortQueue(Context.current().info.taskQueue) ? shortJobs : longJobs;
    return run((signal) => jobs.run(tenantId, () => work(signal)));
  };
  return {
    planImport: (tenantId: string, jobId: string) =>
      run((signal) => planImport(dependencies, tenantId, jobId, signal)),
    cutFile: (tenantId: string, jobId: string) =>
      run((signal) => splitIntoRanges(dependencies, tenantId, jobId, signal)),
    importAtOnce: (tenantId: string, jobId: string) =>
      runWhole(tenantId, (signal) => importInSingleTransaction(dependencies, tenantId, jobId, signal)),
    readKeys: (range: RangeToImport) => run((signal) => readKeys(dependencies, range, signal)),
    findDuplicates: (tenantId: string, jobId: string) =>
      run(() => dependencies.keys.findDuplicates(tenantId, jobId)),
    importRange: (range: RangeToImport) => {
      const work = (signal: AbortSignal) => importRange(dependencies, range, signal);
      return range.isWhole ? runWhole(range.tenantId, work) : run(work);
    },
    endImport: (job: ImportToEnd) => run((signal) => endImport(dependencies, job, signal)),
    failImport: (tenantId: string, jobId: string, reason: string) => {
      const isLast = isLastAttempt(Context.current().info.attempt);
      return run((signal) => failImport(dependencies, { tenantId, jobId, reason }, { signal, isLast }));
    },
    undoImport: (tenantId: string, jobId: string) =>
      run((signal) => undoImport(dependencies, tenantId, jobId, signal)),
    failUndo: (tenantId: string, jobId: string, reason: string) =>
      run(() => failUndo(dependencies, tenantId, jobId, reason)),
    runExport: (tenantId: string, jobId: string) =>
      runWhole(tenantId, (signal) => runExport(dependencies, tenantId, jobId, signal)),
    failExport: (tenantId: string, jobId: string, reason: string) =>
      run(() => dependencies.exports.fail(tenantId, jobId, reason, dependencies.clock.now())),
  };
};

export type Activities = ReturnType<typeof createActivities>;

/** Reports to Temporal that the activity is alive, and whether its error can be retried. */
async function withHeartbeat<Result>(
  log: Log,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MILLISECONDS);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted || error instanceof ApplicationFailure) throw error;
    const { attempt, activityType, workflowExecution } = context.info;
    const job = workflowExecution?.workflowId.slice(0, JOB_ID_LENGTH);
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    if (!problem || problem.kind === 'internal') {
      log.error({ err: error, attempt, job }, `${activityType} failed`);
      throw failureOf(undefined, attempt);
    }
    log.warn({ err: problem.options.cause ?? problem, attempt, job }, `${activityType}: ${problem.detail}`);
    throw failureOf(problem, attempt);
  } finally {
    clearInterval(heartbeat);
  }
}
