import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Problem } from '@plinth/kernel/problem';

/** Why a credential is refused: the label of a metric and a word of the log, which never have its text. */
export type RefusalReason =
  | 'malformed'
  | 'issuer'
  | 'signature'
  | 'unknown-signing-key'
  | 'expired'
  | 'audience'
  | 'claim'
  | 'tenant'
  | 'id-token'
  | 'api-key-unknown'
  | 'api-key-revoked'
  | 'api-key-expired';

const reasons = new WeakMap<Problem, RefusalReason>();

/** The problem of a request without a credential that needs one. */
export const missingCredential = (): Problem =>
  platformProblems['invalid-credential']('This endpoint requires a credential.');

/** The problem of a request whose credential is not valid. */
export function refusedCredential(reason: RefusalReason, detail: string, cause?: unknown): Problem {
  const problem = platformProblems['invalid-credential'](detail, { cause });
  reasons.set(problem, reason);
  return problem;
}

/** Why a credential was refused; undefined for other problems, such as that of an identity provider that is away. */
export const refusalOf = (problem: Problem): RefusalReason | undefined => reasons.get(problem);
