import type { Problem } from '@plinth/kernel/problem';
import { ApplicationFailure } from '@temporalio/activity';
import { mayPass } from '../domain/problems';
import { InterruptedReading } from '../formats/interrupted-reading';

/** What may fail each time it is tried is not retried for ever. */
const ATTEMPTS_MAX = 5;

/** Whether what may fail each time is not tried again after this attempt. */
export const isLastAttempt = (attempt: number): boolean => attempt >= ATTEMPTS_MAX;

/**
 * What Temporal is told of an attempt that failed, and whether another one may succeed; without a problem it is a bug.
 * `attempt` counts all attempts of the activity, whatever the others failed for.
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
