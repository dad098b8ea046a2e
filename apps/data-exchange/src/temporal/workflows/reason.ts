import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The error message of a job: the detail of a problem; of any other error only that it happened. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === 'Problem') return cause.message;
  return 'An unexpected error happened.';
}
