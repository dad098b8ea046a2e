import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { PROCESSES_ENDED } from './failure-types';

const causeOf = (error: unknown): unknown => (error instanceof ActivityFailure ? error.cause : error);

/** The error message of a job: the detail of a problem; of any other error only that it happened. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure && cause.type === 'Problem') return cause.message;
  return 'An unexpected error happened.';
}

/** Whether a job was given up, as its processes ended each time. */
export function endedItsProcesses(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.details?.[0] === PROCESSES_ENDED;
}
