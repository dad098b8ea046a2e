import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import { requireSameBody } from '@plinth/runtime/postgres/run-once';
import { jobCaller } from '../domain/definition';

/** The caller of a job that starts once at most, with what tells a retry of the request from another one. */
export const starterOf = (caller: Caller): Caller => ({
  ...jobCaller(caller),
  ...(caller.operationId === undefined ? {} : { operationId: caller.operationId }),
  ...(caller.operationBodyHash === undefined ? {} : { operationBodyHash: caller.operationBodyHash }),
});

/**
 * Whether a request is a retry of the one that started a job, which is stored with the job and not by `runOnce`.
 * @throws Problem `idempotency-payload-mismatch` where it has the idempotency key of that one and another body
 */
export function isRetry(caller: Caller, starter: Caller): boolean {
  if (caller.operationId === undefined || caller.operationId !== starter.operationId) return false;
  requireSameBody(caller, { bodyHash: starter.operationBodyHash ?? null });
  return true;
}

/**
 * Starts a job, unless the request is a retry of the one that started it, be that before or at the same moment.
 * @param find what a retry is told; undefined where the request is none
 */
export async function retriedOr<Started>(
  find: () => Promise<Started | undefined>,
  start: () => Promise<Started>,
): Promise<Started> {
  const before = await find();
  if (before) return before;
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const meanwhile = await find();
    if (!meanwhile) throw error;
    return meanwhile;
  }
}
