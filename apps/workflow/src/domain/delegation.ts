import { invalid, type ValidationRule } from '@plinth/kernel/problem';
import type { Person } from './approval';

/** Permissions of who delegates are kept as they are that day; so that they cannot outlive the role for long. */
export const DELEGATION_DAYS_MAX = 90;

const DAY_MILLISECONDS = 86_400_000;

/** Somebody decides in another's place for a while. */
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
 * @throws Problem `invalid` for one to oneself, or whose time is over, reversed or too long.
 */
export function delegate(
  delegator: Person,
  request: { delegateId: string; from: Date; until: Date },
  made: { id: string; now: Date },
): Delegation {
  const { delegateId, from, until } = request;
  const errors: Record<string, ValidationRule> = {};
  if (delegateId === delegator.userId) errors['delegateId'] = 'Format';
  const latest = from.getTime() + DELEGATION_DAYS_MAX * DAY_MILLISECONDS;
  if (until <= from || until <= made.now || until.getTime() > latest) errors['until'] = 'Range';
  if (Object.keys(errors).length > 0) {
    throw invalid(
      errors,
      `Delegate to somebody else, until a time that is to come and at most ${DELEGATION_DAYS_MAX} days after the start.`,
    );
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
