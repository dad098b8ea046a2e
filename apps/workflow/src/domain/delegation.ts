import { latestAfterDays } from '@plinth/kernel/instant';
import type { ValidationRule } from '@plinth/kernel/problem';
import type { Person } from './approval';
import { delegationInvalid } from './problems';

/** A delegation stores the permissions that its delegator holds that day; they must not outlive the role for long. */
export const DELEGATION_DAYS_MAX = 90;

/** One user decides in the place of another for a while. */
export interface Delegation {
  id: string;
  delegatorId: string;
  delegatorName: string;
  /** What the delegator held when they delegated; the delegate decides with these, and not more. */
  permissions: readonly string[];
  delegateId: string;
  from: Date;
  until: Date;
  createdAt: Date;
}

/**
 * Makes a delegation.
 * @throws Problem `invalid` for one to oneself, or whose time is over, reversed, too long or too far away.
 */
export function delegate(
  delegator: Person,
  request: { delegateId: string; from: Date; until: Date },
  made: { id: string; now: Date },
): Delegation {
  const { delegateId, from, until } = request;
  const errors: Record<string, ValidationRule> = {};
  if (delegateId === delegator.userId) errors['delegateId'] = 'Format';
  const latest = (start: Date): Date => latestAfterDays(start, DELEGATION_DAYS_MAX);
  if (from > latest(made.now)) errors['from'] = 'Range';
  if (until <= from || until <= made.now || until > latest(from)) errors['until'] = 'Range';
  if (Object.keys(errors).length > 0) {
    throw delegationInvalid(errors, DELEGATION_DAYS_MAX);
  }
  return {
    id: made.id,
    delegatorId: delegator.userId,
    delegatorName: delegator.userName,
    permissions: delegator.permissions,
    delegateId,
    from,
    until,
    createdAt: made.now,
  };
}
