import type { Problem } from '@plinth/kernel/problem';
import { ApplicationFailure, type Info } from '@temporalio/activity';
import { mayPass } from '../domain/problems';
import { InterruptedReading } from '../formats/interrupted-reading';
import { PROCESSES_ENDED } from './workflows/failure-types';

/** What may fail each time it is tried is not retried for ever. */
const ATTEMPTS_MAX = 5;

/** Whether what may fail each time is not tried again after this attempt. */
export const isLastAttempt = (attempt: number): boolean => attempt >= ATTEMPTS_MAX;

/**
 * What Temporal is told of an attempt that failed, and whether another one may succeed; without a problem it is a bug.
 * `attempt` counts the attempts of the activity, but for those that failed for what others do; see `countedAttempt`.
 */
export function failureOf(problem: Problem | undefined, attempt: number): ApplicationFailure {
  const isLast = isLastAttempt(attempt);
  if (!problem)
    return ApplicationFailure.create({
      message: 'An unexpected error happened.',
      type: 'Bug',
      nonRetryable: isLast,
    });
  return ApplicationFailure.create({
    message: problem.detail,
    type: 'Problem',
    // A workbook that needs all memory of its pod has its reader killed each time.
    nonRetryable: !mayPass(problem) || (problem instanceof InterruptedReading && isLast),
  });
}

/** Whether an attempt failed for what others do, such as a lock or a service that is away: it says nothing of the next one. */
export const isForOthers = (problem: Problem | undefined): boolean =>
  problem !== undefined && mayPass(problem) && !(problem instanceof InterruptedReading);

/** What the attempts of an activity leave to the next one; Temporal keeps it with the last heartbeat. */
export interface AttemptDetails {
  /** How many attempts failed for what others do. */
  forOthers: number;
  /** How many ended, those too. Whatever others there were ended with their process. */
  ended: number;
  /** How many had ended with their process when the activity last got further. */
  crashesBefore: number;
  /** Milliseconds that the longest of them lived. */
  longest: number;
}

type AttemptInfo = Pick<Info, 'attempt' | 'heartbeatDetails'>;

export function detailsOf({ attempt, heartbeatDetails }: AttemptInfo): AttemptDetails {
  const left = heartbeatDetails as Partial<AttemptDetails> | null | undefined;
  // A version before left no number of those that ended; nearly all of its many attempts waited for others.
  const unknown = { forOthers: attempt - 1, ended: attempt - 1, crashesBefore: 0, longest: 0 };
  return left?.ended === undefined ? unknown : { ...unknown, ...left };
}

/** The number of an attempt among those that did not fail for what others do, and did not end with their process. */
export const countedAttempt = (info: AttemptInfo): number => {
  const { ended, forOthers } = detailsOf(info);
  return ended - forOthers + 1;
};

/** How many attempts ended with their process, or without a sign of life. */
export const crashesOf = (info: AttemptInfo): number => Math.max(0, info.attempt - 1 - detailsOf(info).ended);

/**
 * From so many on an activity may be what ends its processes: of such ones a worker runs one at a time, so that those that
 * only ran beside it are told from it. The first one is by chance, and all that ran go on at once.
 */
const CRASHES_OF_CHANCE = 2;
/** So many may be for others, which kill one process after the other. From then on it runs alone: no other is why it ends. */
const CRASHES_OF_OTHERS = 6;
/** Processes that are killed have died so often under nothing that gets further, but one job must not kill them for ever. */
const CRASHES_MAX = 10;

const isSuspect = (crashes: number): boolean => crashes >= CRASHES_OF_CHANCE;
export const isGivenUp = (crashes: number): boolean => crashes >= CRASHES_MAX;

/** How many count for the end of a job that was given up, so that it runs alone, and ends as many as that did alone. */
export const CRASHES_OF_JOB = CRASHES_OF_OTHERS;

/** An attempt as those see it that run beside it. */
export interface Neighbour {
  /** How many of its processes ended since it got further. */
  readonly crashes: number;
  /** Whether it may still be what ends its process: it does not live for long. */
  readonly isUnproven: boolean;
}

export const runsAlone = ({ crashes, isUnproven }: Neighbour): boolean =>
  isUnproven && crashes >= CRASHES_OF_OTHERS;

/** Whether one of the two may be what ends the processes of the other, so that they are not to run side by side. */
export const mayBlame = (one: Neighbour, other: Neighbour): boolean =>
  one.isUnproven &&
  other.isUnproven &&
  (runsAlone(one) || runsAlone(other) || (isSuspect(one.crashes) && isSuspect(other.crashes)));

/** An attempt that lives twice as long as any before does not die of what those died of. */
const LIVES_LONGER = { times: 2, millisecondsMin: 30_000 };
/** Others wait for one no longer, however long those before it lived: what ends processes so rarely holds up less than that. */
const UNPROVEN_MILLISECONDS_MAX = 10 * 60_000;

export const livesLonger = (milliseconds: number, longestBefore: number): boolean =>
  milliseconds >= Math.max(LIVES_LONGER.times * longestBefore, LIVES_LONGER.millisecondsMin);

export const isUnprovenAfter = (milliseconds: number): boolean => milliseconds < UNPROVEN_MILLISECONDS_MAX;

const ADVICE: Partial<Record<string, string>> = {
  runExport: ' Export fewer rows at a time.',
  undoImport: ' Ask for the undo again.',
};

/** What an activity fails with whose processes end again and again. */
export const processesEnded = (activityType: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(
    `The process of this job ended or stood still ${CRASHES_MAX} times before the job got any further.` +
      (ADVICE[activityType] ?? ' Divide the file.'),
    'Problem',
    PROCESSES_ENDED,
  );
