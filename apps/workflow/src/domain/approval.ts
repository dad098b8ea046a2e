import { holds, type Caller } from '@plinth/kernel/caller';
import type { Approvers, Timers, Transition } from './definition';
import { approversOf } from './definition';

/** Who asks; permissions are what decides. */
export type Person = Pick<Caller, 'userId' | 'userName' | 'permissions'>;

/** One person's agreement. `seat` is whose place they took: their own, or that of who delegated to them. */
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
  approverPermission: string | null;
  approverUsers: readonly string[];
  /** How many must agree. */
  needed: number;
  remindAt: Date | null;
  escalateAt: Date | null;
  escalatePermission: string | null;
  escalateUsers: readonly string[];
  isReminded: boolean;
  /** From now on those it escalates to may decide too. */
  isEscalated: boolean;
  expiresAt: Date | null;
}

/** Somebody in whose place the caller may decide now, with the permissions they held when they said so. */
export interface Delegator {
  userId: string;
  permissions: readonly string[];
}

/** How many approvals a move needs when this person asks for it; undefined where nobody else could give them. */
export function approvalsNeeded(approvers: Approvers, requesterId: string): number | undefined {
  const others = new Set(approvers.users.filter((user) => user !== requesterId)).size;
  const needed = approvers.mode === 'All' ? others : approvers.mode === 'Count' ? (approvers.count ?? 1) : 1;
  const isPossible = needed > 0 && (approvers.permission !== null || others >= needed);
  return isPossible ? needed : undefined;
}

/** The request that a person makes by asking for a move that requires approval. */
export function requestApproval(
  entity: { entityType: string; entityId: string },
  transition: Transition,
  requester: Person,
  request: { id: string; comment: string | null; now: Date; needed: number },
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

/** What the caller may do about a request: decide from a seat, or the reason why not. */
export type Standing = { seat: string } | { reason: string };

/** Whether this person may deny the request, and from whose seat. */
export function standingOf(approval: Approval, caller: Person, delegators: readonly Delegator[]): Standing {
  if (caller.userId === approval.requestedBy)
    return { reason: 'You asked for it; somebody else must decide.' };
  const [seat] = seatsOf(approval, caller, delegators);
  return seat === undefined
    ? { reason: `You are not among those who may decide: ${describeApprovers(approval)}.` }
    : { seat };
}

/**
 * Whether this person may agree, and from whose seat. One person agrees once, and each seat is taken once: so two
 * seats need two people, whatever was delegated.
 */
export function seatToAgree(
  approval: Approval,
  votes: readonly Vote[],
  caller: Person,
  delegators: readonly Delegator[],
): Standing {
  const standing = standingOf(approval, caller, delegators);
  if ('reason' in standing) return standing;
  if (votes.some(({ voterId }) => voterId === caller.userId)) return { reason: 'You have agreed already.' };
  const seat = seatsOf(approval, caller, delegators).find(
    (candidate) => !votes.some((vote) => vote.seat === candidate),
  );
  return seat === undefined ? { reason: 'Somebody agreed in your place already.' } : { seat };
}

/** The seats this person could take, their own first. Nobody decides in the place of who asked. */
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

/** What time alone does to a request. */
export type TimedStep = 'remind' | 'escalate' | 'expire';

/** The step that is due now, the gravest first. */
export function dueStep(approval: Approval, now: Date): TimedStep | undefined {
  const isDue = (at: Date | null): boolean => at !== null && at <= now;
  if (isDue(approval.expiresAt)) return 'expire';
  if (!approval.isEscalated && isDue(approval.escalateAt)) return 'escalate';
  if (!approval.isReminded && isDue(approval.remindAt)) return 'remind';
  return undefined;
}

/** When the next step is due, or null when nothing more will happen by itself. */
export function nextStepAt(approval: Approval): Date | null {
  const open = [
    approval.isReminded ? null : approval.remindAt,
    approval.isEscalated ? null : approval.escalateAt,
    approval.expiresAt,
  ].filter((at) => at !== null);
  return open.length === 0 ? null : new Date(Math.min(...open.map((at) => at.getTime())));
}

/** Whether time will ever do anything to a request. */
export const hasTimers = ({ remindAt, escalateAt, expiresAt }: Approval): boolean =>
  [remindAt, escalateAt, expiresAt].some((at) => at !== null);
