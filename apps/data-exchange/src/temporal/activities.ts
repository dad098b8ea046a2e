import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { endImport, failImport, type ImportToEnd } from '../app/end-import';
import { findDuplicates } from '../app/find-duplicates';
import { importInSingleTransaction } from '../app/import-in-single-transaction';
import { importRange, type RangeToImport } from '../app/import-range';
import { planImport } from '../app/plan-import';
import { readKeys } from '../app/read-keys';
import { runExport, type ExportDependencies } from '../app/run-export';
import { splitIntoRanges, type SplitDependencies } from '../app/split-into-ranges';
import { RowBudget, TooLong } from '../app/row-budget';
import { failUndo, undoImport, type UndoDependencies } from '../app/undo-import';
import { LostProgress } from '../domain/lost-progress';
import type { KeyStore } from '../store/key-store';
import type { RangeStore } from '../store/range-store';
import { Attempt } from './attempt';
import { CRASHES_OF_JOB, failureOf, isForOthers, processesEnded } from './job-failure';
import { isShareRefusal, Neighbours, WorkerShares } from './worker-shares';
import { LOST_PROGRESS, TOO_LONG } from './workflows/failure-types';
import { isShortQueue } from './workflows/task-queues';

/** The id of a workflow begins with the id of its job. */
const JOB_ID_LENGTH = 36;
/** Characters of cells that a short activity reads, as a multiple of the range; no text file of one range has as many. */
const SHORT_RANGES = 4;

type Work<Result> = (signal: AbortSignal) => Promise<Result>;
/** Begins work in a place of the worker, if there is one. */
type InPlace<Result> = (begin: () => Promise<Result>) => Promise<Result>;

/**
 * The activities by the names that recorded workflow histories have for them, so these and their arguments stay:
 * `cutFile` splits a file into ranges, `importAtOnce` imports it in a single transaction.
 */
export const createActivities = ({
  ranges,
  keys,
  ...further
}: SplitDependencies & UndoDependencies & ExportDependencies & { log: Log }) => {
  const attempts = new WeakMap<Context, Attempt>();
  /** What another attempt does not do again is progress. */
  const asProgress = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work;
    attempts.get(Context.current())?.noteProgress();
    return result;
  };
  const countBatch: RangeStore['countBatch'] = (...batch) => asProgress(ranges.countBatch(...batch));
  const insert: KeyStore['insert'] = (...read) => asProgress(keys.insert(...read));
  const dependencies = { ...further, ranges: { ...ranges, countBatch }, keys: { ...keys, insert } };
  const neighbours = new Neighbours();
  /** Runs what ends a job, which has to, however often its processes ended. @param crashesOfJob of the job itself, which count */
  const runEnd = <Result>(
    work: (signal: AbortSignal, attempt: Attempt) => Promise<Result>,
    crashesOfJob = 0,
  ): Promise<Result> => {
    const context = Context.current();
    const attempt = new Attempt(context, crashesOfJob);
    attempts.set(context, attempt);
    return runAttempt(dependencies.log, attempt, () => work(context.cancellationSignal, attempt));
  };
  const run = <Result>(work: Work<Result>, inPlace: InPlace<Result> = (begin) => begin()): Promise<Result> =>
    runEnd((signal, attempt) => {
      if (attempt.isGivenUp) throw processesEnded(Context.current().info.activityType);
      // The place comes first: for whom there is none, no process is kept from others.
      return inPlace(() => neighbours.run(attempt, work, signal));
    });
  const [longShares, shortShares] = [WorkerShares.long(), WorkerShares.short()];
  const isShort = (): boolean => isShortQueue(Context.current().info.taskQueue);
  const shares = (): WorkerShares => (isShort() ? shortShares : longShares);
  /** Runs a part of a job, which ends within seconds. */
  const runPart = <Result>(tenantId: string, work: Work<Result>): Promise<Result> =>
    run(work, (begin) => shares().run(tenantId, begin));
  /** Runs what keeps its place until it has read, found or written all rows of the job. */
  const runWhole = <Result>(tenantId: string, work: Work<Result>): Promise<Result> =>
    run(work, (begin) => shares().runWhole(tenantId, begin));
  /** For what reads rows of a file: in the queue of short activities so many as take seconds, where it can go on in the other. */
  const withBudget = (movesOn: boolean | undefined) => {
    const lengthMax = SHORT_RANGES * dependencies.config.EXCHANGE_RANGE_BYTES;
    return movesOn && isShort() ? { ...dependencies, budget: new RowBudget(lengthMax) } : dependencies;
  };
  return {
    planImport: (tenantId: string, jobId: string) =>
      runPart(tenantId, () => planImport(dependencies, tenantId, jobId)),
    cutFile: (tenantId: string, jobId: string) =>
      runPart(tenantId, (signal) => splitIntoRanges(dependencies, tenantId, jobId, signal)),
    importAtOnce: (tenantId: string, jobId: string, movesOn?: boolean) =>
      runWhole(tenantId, (signal) => importInSingleTransaction(withBudget(movesOn), tenantId, jobId, signal)),
    readKeys: (range: RangeToImport) =>
      runPart(range.tenantId, (signal) => readKeys(dependencies, range, signal)),
    findDuplicates: (tenantId: string, jobId: string, keyBatches?: number) =>
      runWhole(tenantId, (signal) => findDuplicates(dependencies, { tenantId, jobId, keyBatches }, signal)),
    importRange: (range: RangeToImport) => {
      const work = (signal: AbortSignal) => importRange(withBudget(range.movesOn), range, signal);
      return range.isWhole ? runWhole(range.tenantId, work) : runPart(range.tenantId, work);
    },
    endImport: (job: ImportToEnd) => {
      const work = (signal: AbortSignal) => endImport(withBudget(job.movesOn), job, signal);
      // The rows that a cancelled job did not import are counted, for which its file is read.
      return job.isCancelled ? run(work, (begin) => shares().runEnd(job.tenantId, begin)) : run(work);
    },
    failImport: (
      tenantId: string,
      jobId: string,
      reason: string,
      movesOn?: boolean,
      /** The job was given up, as its processes ended each time: what reads its file again may end them too. */
      isSuspect?: boolean,
    ) =>
      runEnd(
        (signal, attempt) =>
          shares().runEnd(tenantId, () =>
            neighbours.run(
              attempt,
              () => {
                const { isLast, isGivenUp } = attempt;
                const job = { tenantId, jobId, reason };
                return failImport(withBudget(movesOn), job, { signal, isLast, isGivenUp });
              },
              signal,
            ),
          ),
        isSuspect ? CRASHES_OF_JOB : 0,
      ),
    undoImport: (tenantId: string, jobId: string) =>
      runPart(tenantId, (signal) => undoImport(dependencies, tenantId, jobId, signal)),
    failUndo: (tenantId: string, jobId: string, reason: string) =>
      runEnd(() => failUndo(dependencies, tenantId, jobId, reason)),
    runExport: (tenantId: string, jobId: string) =>
      runWhole(tenantId, (signal) => runExport(dependencies, tenantId, jobId, signal)),
    failExport: (tenantId: string, jobId: string, reason: string) =>
      runEnd(() => dependencies.exports.fail(tenantId, jobId, reason, dependencies.clock.now())),
  };
};

export type Activities = ReturnType<typeof createActivities>;

/** Reports to Temporal that the activity is alive, and whether its error can be retried. */
async function runAttempt<Result>(log: Log, attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
  const { info, cancellationSignal } = Context.current();
  const note = { attempt: attempt.number, job: info.workflowExecution?.workflowId.slice(0, JOB_ID_LENGTH) };
  try {
    return await attempt.whileAlive(work);
  } catch (error) {
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    const { aborted: isCancelled } = cancellationSignal;
    attempt.noteFailure({ isForOthers: isCancelled || isShareRefusal(error) || isForOthers(problem) });
    if (isCancelled || error instanceof ApplicationFailure) throw error;
    if (error instanceof TooLong) throw ApplicationFailure.nonRetryable(error.message, TOO_LONG);
    if (error instanceof LostProgress) {
      log.warn({ err: error, ...note }, `${info.activityType}: the database lost progress of the job`);
      throw ApplicationFailure.nonRetryable(error.message, LOST_PROGRESS);
    }
    if (!problem || problem.kind === 'internal') {
      log.error({ err: error, ...note }, `${info.activityType} failed`);
      throw failureOf(undefined, attempt.number);
    }
    log.warn({ err: problem.options.cause ?? problem, ...note }, `${info.activityType}: ${problem.detail}`);
    throw failureOf(problem, attempt.number);
  }
}
