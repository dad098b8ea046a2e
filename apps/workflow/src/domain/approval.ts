import { holds, type Caller } from '@plinth/kernel/caller';
import type { Approvers, Timers, Transition } from './definition';
import { approversOf } from './definition';

/** A user who requests or decides, by their permissions. */
export type Person = Pick<Caller, 'userId' | 'userName' | 'permissions'>;

/** One user's agreement. `seat` is the user in whose place they voted: themselves, or one who delegated to them. */
export interface Vote {
  seat: string;
  voterId: string;
}

/** A request for approval that is not decided yet. */
export interface Approval {
  id: string;
  entityType: string;
  entityId: string;
  transitionName: string;
  formerState: string;
  targetState: string;
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
  comment: string | null;
  /** The version of the entity that it is for, as the owner names it; null where it is for any. */
  entityVersion: string | null;
  approverPermission: string | null;
  approverUsers: readonly string[];
  /** How many must agree. */
  needed: number;
  remindAt: Date | null;
  escalateAt: Date | null;
  escalatePermission: string | null;
  escalateUsers: readonly string[];
  isReminded: boolean;
  /** From now on `escalateUsers` and holders of `escalatePermission` may decide too. */
  isEscalated: boolean;
  expiresAt: Date | null;
}

/**
 * How many rows tell who may decide a request while it is open, with those to whom it escalates: one of each user, and two
 * of a permission, since who holds all permissions is found by a row of their own.
 */
export const rowsOfApprovers = (approval: Approval): number =>
  approval.approverUsers.length +
  approval.escalateUsers.length +
  (approval.approverPermission === null ? 0 : 2) +
  (approval.escalatePermission === null ? 0 : 2);

/** A user in whose place the caller may decide now, with the permissions they held when they delegated. */
export interface Delegator {
  userId: string;
  permissions: readonly string[];
}

/** How many approvals a move needs when this user requests it; undefined where no other user could give them. */
export function approvalsNeeded(approvers: Approvers, requesterId: string): number | undefined {
  const others = new Set(approvers.users.filter((user) => user !== requesterId)).size;
  const needed = approvers.mode === 'All' ? others : approvers.mode === 'Count' ? (approvers.count ?? 1) : 1;
  const isPossible = needed > 0 && (approvers.permission !== null || others >= needed);
  return isPossible ? needed : undefined;
}

/** Opens the approval of a move that requires one. */
export function requestApproval(
  entity: { entityType: string; entityId: string },
  transition: Transition,
  requester: Person,
  request: Pick<Approval, 'id' | 'comment' | 'entityVersion' | 'needed'> & { now: Date },
): Approval {
  const approvers = approversOf(transition);
  const timers: Partial<Timers> = transition.timers ?? {};
  const after = (seconds: number | null | undefined): Date | null =>
    seconds == null ? null : new Date(request.now.getTime() + seconds * 1000);
  return {
    id: request.id,
    ...entity,
    transitionName: transition.name,
    formerState: transition.from,
    targetState: transition.to,
    requestedBy: requester.userId,
    requestedByName: requester.userName,
    requestedAt: request.now,
    comment: request.comment,
    entityVersion: request.entityVersion,
    approverPermission: approvers.permission,
    approverUsers: approvers.users,
    needed: request.needed,
    remindAt: after(timers.remindAfterSeconds),
    escalateAt: after(timers.escalateAfterSeconds),
    escalatePermission: timers.escalateTo?.permission ?? null,
    escalateUsers: timers.escalateTo?.users ?? [],
    isReminded: false,
    isEscalated: false,
    expiresAt: after(timers.expireAfterSeconds),
  };
}

/** The seat from which a user may decide, or the reason why they may not. */
export type SeatDecision = { seat: string } | { reason: string };

/** The seat from which this user may deny the request. */
export function seatToDecide(
  approval: Approval,
  caller: Person,
  delegators: readonly Delegator[],
): SeatDecision {
  if (caller.userId === approval.requestedBy)
    return { reason: 'You asked for it; somebody else must decide.' };
  const [seat] = seatsOf(approval, caller, delegators);
  return seat === undefined
    ? { reason: `You are not among those who may decide: ${describeApprovers(approval)}.` }
    : { seat };
}

/**
 * The seat from which this user may agree. A user agrees once, and each seat votes once: two seats need two users, no
 * matter what was delegated.
 */
export function seatToAgree(
  approval: Approval,
  votes: readonly Vote[],
  caller: Person,
  delegators: readonly Delegator[],
): SeatDecision {
  const decision = seatToDecide(approval, caller, delegators);
  if ('reason' in decision) return decision;
  if (votes.some(({ voterId }) => voterId === caller.userId)) return { reason: 'You have agreed already.' };
  const seat = seatsOf(approval, caller, delegators).find(
    (candidate) => !votes.some((vote) => vote.seat === candidate),
  );
  return seat === undefined ? { reason: 'Somebody agreed in your place already.' } : { seat };
}

/**
 * The seat from which a user may have agreed of whom only the id is known, who may hold each permission that gives one;
 * undefined where there is none.
 */
export function seatLeft(
  approval: Approval,
  { votes, delegators }: { votes: readonly Vote[]; delegators: readonly Delegator[] },
  userId: string,
): string | undefined {
  const permissions = [approval.approverPermission, approval.escalatePermission].filter(
    (one) => one !== null,
  );
  const decision = seatToAgree(approval, votes, { userId, userName: userId, permissions }, delegators);
  return 'seat' in decision ? decision.seat : undefined;
}

/** The seats this user could vote from, their own first. The requester's seat does not vote. */
const seatsOf = (approval: Approval, caller: Person, delegators: readonly Delegator[]): string[] =>
  [caller, ...delegators.filter(({ userId }) => userId !== approval.requestedBy)]
    .filter((person) => isApprover(approval, person))
    .map(({ userId }) => userId);

function isApprover(approval: Approval, person: { userId: string; permissions: readonly string[] }): boolean {
  const { approverUsers, approverPermission, isEscalated, escalateUsers, escalatePermission } = approval;
  const among = (users: readonly string[], permission: string | null): boolean =>
    users.includes(person.userId) || (permission !== null && holds(person as Caller, permission));
  return (
    among(approverUsers, approverPermission) || (isEscalated && among(escalateUsers, escalatePermission))
  );
}

function describeApprovers({ approverUsers, approverPermission }: Approval): string {
  const parts = [
    ...(approverUsers.length > 0 ? ['the people named in the definition'] : []),
    ...(approverPermission === null ? [] : [`holders of ${approverPermission}`]),
  ];
  return parts.join(' and ');
}

/** What time does to a request without anybody who decides. */
export type TimerStep = 'remind' | 'escalate' | 'expire';

/** The step that is due now, the gravest first. */
export function dueStep(approval: Approval, now: Date): TimerStep | undefined {
  const isDue = (at: Date | null): boolean => at !== null && at <= now;
  if (isDue(approval.expiresAt)) return 'expire';
  if (!approval.isEscalated && isDue(approval.escalateAt)) return 'escalate';
  if (!approval.isReminded && isDue(approval.remindAt)) return 'remind';
  return undefined;
}

/** When the next step is due, or null without one. */
export function nextStepAt(approval: Approval): Date | null {
  const open = [
    approval.isReminded ? null : approval.remindAt,
    approval.isEscalated ? null : approval.escalateAt,
    approval.expiresAt,
  ].filter((at) => at !== null);
  return open.length === 0 ? null : new Date(Math.min(...open.map((at) => at.getTime())));
}

/** How long a timer waits for a step at most; for what is due later, the database alone remembers it. */
export const TIMER_MILLISECONDS_MAX = 300_000;

/** How long a timer is to wait for the next step of a request; null where none is due soon. */
export function timerOf(approval: Approval, now: Date): number | null {
  const next = nextStepAt(approval);
  if (next === null) return null;
  const milliseconds = Math.max(1, next.getTime() - now.getTime());
  return milliseconds <= TIMER_MILLISECONDS_MAX ? milliseconds : null;
}
