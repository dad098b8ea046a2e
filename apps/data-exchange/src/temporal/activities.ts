import { Problem, type ProblemKind } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/log';
import { problemOfDatabase } from '@plinth/runtime/postgres';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { endImport, failImport, type ImportToEnd } from '../jobs/end-import';
import { importAtOnce } from '../jobs/import-at-once';
import { importRange, type RangeToImport } from '../jobs/import-range';
import { cutFile, planImport, type PlanParts } from '../jobs/plan-import';
import { readKeys } from '../jobs/read-keys';
import { runExport, type ExportRunParts } from '../jobs/run-export';
import { failUndo, undoImport, type UndoParts } from '../jobs/undo-import';

const HEARTBEAT_MILLISECONDS = 3_000;
/** A fault of ours is not repeated for ever. */
const BUG_ATTEMPTS_MAX = 5;

const passing: readonly ProblemKind[] = ['limited', 'upstream', 'overloaded', 'timed-out'];

export const createActivities = (parts: PlanParts & UndoParts & ExportRunParts & { log: Log }) => {
  const alive = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    whileAlive(parts.log, work);
  return {
    planImport: (tenantId: string, jobId: string) => alive(() => planImport(parts, tenantId, jobId)),
    cutFile: (tenantId: string, jobId: string) => alive(() => cutFile(parts, tenantId, jobId)),
    importAtOnce: (tenantId: string, jobId: string) =>
      alive((signal) => importAtOnce(parts, tenantId, jobId, signal)),
    readKeys: (range: RangeToImport) => alive((signal) => readKeys(parts, range, signal)),
    findDuplicates: (tenantId: string, jobId: string) =>
      alive(() => parts.keys.findDuplicates(tenantId, jobId)),
    importRange: (range: RangeToImport) => alive((signal) => importRange(parts, range, signal)),
    endImport: (job: ImportToEnd) => alive((signal) => endImport(parts, job, signal)),
    failImport: (tenantId: string, jobId: string, reason: string) =>
      alive(() => failImport(parts, tenantId, jobId, reason)),
    undoImport: (tenantId: string, jobId: string) =>
      alive((signal) => undoImport(parts, tenantId, jobId, signal)),
    failUndo: (tenantId: string, jobId: string, reason: string) =>
      alive(() => failUndo(parts, tenantId, jobId, reason)),
    runExport: (tenantId: string, jobId: string) =>
      alive((signal) => runExport(parts, tenantId, jobId, signal)),
    failExport: (tenantId: string, jobId: string, reason: string) =>
      alive(() => parts.exports.fail(tenantId, jobId, reason, parts.clock.now())),
  };
};

export type Activities = ReturnType<typeof createActivities>;

/** Tells Temporal that the work goes on, and what its failures mean: whether trying again makes sense. */
async function whileAlive<Result>(log: Log, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MILLISECONDS);
  try {
    return await work(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted) throw error;
    const { attempt, activityType } = context.info;
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    if (!problem || problem.kind === 'internal') {
      log.error({ err: error, attempt }, `${activityType} failed`);
      throw ApplicationFailure.create({
        message: 'An unexpected error happened.',
        type: 'Bug',
        nonRetryable: attempt >= BUG_ATTEMPTS_MAX,
      });
    }
    log.warn({ err: problem.options.cause ?? problem, attempt }, `${activityType}: ${problem.detail}`);
    throw ApplicationFailure.create({
      message: problem.detail,
      type: 'Problem',
      nonRetryable: !passing.includes(problem.kind),
    });
  } finally {
    clearInterval(heartbeat);
  }
}
