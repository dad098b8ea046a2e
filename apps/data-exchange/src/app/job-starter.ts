import type { Caller } from '@plinth/kernel/caller';
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
