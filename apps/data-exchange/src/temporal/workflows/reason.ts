import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** What people are told of a job that failed: the words of a problem, and of anything else only that it happened. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'Problem') return cause.message;
  return 'An unexpected error happened.';
}
