import { PENDING_APPROVAL, type TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import {
  approvalsNeeded,
  requestApproval,
  seatToAgree,
  standingOf,
  type Approval,
  type Delegator,
  type Person,
  type Vote,
} from './approval';
import { approversOf, transitionsFrom, type Definition, type Transition } from './definition';

/** What the owner of an entity has against one of its moves. */
export interface Objection {
  targetState: string;
  reason: string;
  /** True: this caller may not. False: nobody could now. */
  concernsCaller: boolean;
}

/** Where an entity stands, and everything that bears on where it may go. */
export interface Situation {
  definition: Definition;
  entityId: string;
  /** The state without regard to an open request. */
  state: string;
  approval: Approval | undefined;
  votes: readonly Vote[];
  /** Those in whose place the caller may decide. */
  delegators: readonly Delegator[];
  /** Of the entity's owner; an objection with `*` is against all moves. */
  objections: readonly Objection[];
}

export interface TransitionRequest {
  targetState: string;
  comment: string | null;
}

/** What a request changes. */
export type Effect =
  | { kind: 'move'; transitionName: string; from: string; to: string }
  | { kind: 'request'; approval: Approval }
  | { kind: 'agree'; approval: Approval; seat: string; given: number }
  | { kind: 'approve'; approval: Approval; seat: string }
  | { kind: 'deny'; approval: Approval }
  | { kind: 'withdraw'; approval: Approval };

export interface Decision {
  outcome: TransitionOutcome;
  resultingState: string;
  effect?: Effect;
}

/** One state that could be asked for. `effect` is what asking for it would do; without one, `reasons` say why not. */
export interface Option {
  targetState: string;
  name: string;
  requiresApproval: boolean;
  /** What asking for it is answered where it is not allowed. */
  refusal?: 'Denied' | 'InvalidTransition';
  reasons: string[];
  effect?: Effect;
}

export interface Asking {
  caller: Person;
  comment: string | null;
  now: Date;
  /** For the request for approval that may come of it. */
  approvalId: string;
}

export const currentStateOf = ({ state, approval }: Situation): string =>
  approval ? PENDING_APPROVAL : state;

/** The one decision: what comes of a request. */
export function decide(situation: Situation, request: TransitionRequest, asking: Asking): Decision {
  const current = currentStateOf(situation);
  const option = optionsOf(situation, asking).find(({ targetState }) => targetState === request.targetState);
  if (!option?.effect) return { outcome: option?.refusal ?? 'InvalidTransition', resultingState: current };
  return { ...conclude(option.effect), effect: option.effect };
}

function conclude(effect: Effect): Pick<Decision, 'outcome' | 'resultingState'> {
  switch (effect.kind) {
    case 'move':
      return { outcome: 'Completed', resultingState: effect.to };
    case 'request':
    case 'agree':
      return { outcome: 'ApprovalRequested', resultingState: PENDING_APPROVAL };
    case 'approve':
      return { outcome: 'Completed', resultingState: effect.approval.targetState };
    case 'deny':
    case 'withdraw':
      return { outcome: 'Completed', resultingState: effect.approval.formerState };
  }
}

/** Every state that the entity could go to from where it stands, with what stands in the way. */
export function optionsOf(situation: Situation, asking: Asking): Option[] {
  const { definition, state, approval } = situation;
  if (approval) return decisionOptions(situation, approval, asking);
  return transitionsFrom(definition, state).map((transition) => moveOption(situation, transition, asking));
}

function moveOption(situation: Situation, transition: Transition, asking: Asking): Option {
  const { name, to, requiresApproval, permission } = transition;
  const needed = requiresApproval ? approvalsNeeded(approversOf(transition), asking.caller.userId) : 0;
  const objections = objectionsTo(situation, to);
  const missing = [
    ...missingExecute(asking.caller),
    ...(permission !== null && !holds(asking.caller as Caller, permission)
      ? [`You need the permission ${permission}.`]
      : []),
    ...(needed === undefined ? ['Nobody but you could approve it.'] : []),
  ];
  const option = { targetState: to, name, requiresApproval };
  if (objections.length > 0 || missing.length > 0) return refuse(option, objections, missing);
  if (!requiresApproval)
    return {
      ...option,
      reasons: [],
      effect: { kind: 'move', transitionName: name, from: transition.from, to },
    };
  const entity = { entityType: situation.definition.entityType, entityId: situation.entityId };
  const approval = requestApproval(entity, transition, asking.caller, {
    id: asking.approvalId,
    comment: asking.comment,
    now: asking.now,
    needed: needed!,
  });
  return { ...option, reasons: [], effect: { kind: 'request', approval } };
}

/** While a request is open there are two ways: the state asked for approves it, the former state denies it. */
function decisionOptions(situation: Situation, approval: Approval, asking: Asking): Option[] {
  return [agreeOption(situation, approval, asking), denyOption(situation, approval, asking)];
}

function agreeOption(situation: Situation, approval: Approval, { caller }: Asking): Option {
  const { votes, delegators } = situation;
  const seat = seatToAgree(approval, votes, caller, delegators);
  const objections = objectionsTo(situation, approval.targetState);
  const missing = [...missingExecute(caller), ...('reason' in seat ? [seat.reason] : [])];
  const option = {
    targetState: approval.targetState,
    name: approval.transitionName,
    requiresApproval: false,
  };
  if (objections.length > 0 || missing.length > 0 || 'reason' in seat)
    return refuse(option, objections, missing);
  const given = votes.length + 1;
  const effect: Effect =
    given < approval.needed
      ? { kind: 'agree', approval, seat: seat.seat, given }
      : { kind: 'approve', approval, seat: seat.seat };
  return { ...option, reasons: [], effect };
}

function denyOption({ delegators }: Situation, approval: Approval, { caller }: Asking): Option {
  const isRequester = caller.userId === approval.requestedBy;
  const standing = standingOf(approval, caller, delegators);
  const missing = [
    ...missingExecute(caller),
    ...(!isRequester && 'reason' in standing ? [standing.reason] : []),
  ];
  const option = {
    targetState: approval.formerState,
    name: isRequester ? 'Withdraw' : 'Deny',
    requiresApproval: false,
  };
  if (missing.length > 0) return refuse(option, [], missing);
  return { ...option, reasons: [], effect: { kind: isRequester ? 'withdraw' : 'deny', approval } };
}

function refuse(
  option: Pick<Option, 'targetState' | 'name' | 'requiresApproval'>,
  objections: readonly Objection[],
  missing: readonly string[],
): Option {
  const isImpossible = missing.length === 0 && objections.some(({ concernsCaller }) => !concernsCaller);
  return {
    ...option,
    refusal: isImpossible ? 'InvalidTransition' : 'Denied',
    reasons: [...missing, ...objections.map(({ reason }) => reason)],
  };
}

const objectionsTo = ({ objections }: Situation, target: string): Objection[] =>
  objections.filter(({ targetState }) => targetState === target || targetState === '*');

const missingExecute = (caller: Person): string[] =>
  holds(caller as Caller, 'Workflow.Transitions.Execute')
    ? []
    : ['You need the permission Workflow.Transitions.Execute.'];
