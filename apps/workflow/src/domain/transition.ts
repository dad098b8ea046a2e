import { PENDING_APPROVAL, type TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import {
  approvalsNeeded,
  requestApproval,
  seatToAgree,
  seatToDecide,
  type Approval,
  type Person,
} from './approval';
import { approversOf, transitionsFrom, type Transition } from './definition';
import type { Objection } from './owner-state';
import { currentStateOf, type TransitionContext } from './transition-context';

/** What a caller wants. */
export interface TransitionCommand {
  entityType: string;
  entityId: string;
  targetState: string;
  comment: string | null;
  /** The request for approval that the caller decides; null where they say nothing of it. */
  approvalId: string | null;
  /** The same for every attempt at this request. */
  operationId: string | undefined;
  /** Of its body. */
  operationBodyHash?: string | undefined;
}

/** What a decision changes. */
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

/** One state a caller could request. `effect` is what the request would do; without one, `reasons` say why it is refused. */
export interface Option {
  targetState: string;
  name: string;
  requiresApproval: boolean;
  /** The outcome of requesting it where it is not allowed. */
  refusal?: 'Denied' | 'InvalidTransition';
  reasons: string[];
  effect?: Effect;
}

/** The one decision: what a command leads to in a context. */
export function decide(
  { targetState, comment, approvalId }: Pick<TransitionCommand, 'targetState' | 'comment' | 'approvalId'>,
  context: TransitionContext,
): Decision {
  // What was seen may have been withdrawn, changed and requested again.
  if (approvalId !== null && approvalId !== context.approval?.id)
    return { outcome: 'InvalidTransition', resultingState: currentStateOf(context) };
  const option = optionsOf(context, comment).find((candidate) => candidate.targetState === targetState);
  if (!option?.effect)
    return { outcome: option?.refusal ?? 'InvalidTransition', resultingState: currentStateOf(context) };
  return { ...outcomeOf(option.effect), effect: option.effect };
}

function outcomeOf(effect: Effect): Pick<Decision, 'outcome' | 'resultingState'> {
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

/** Every state that the entity could go to from its current one, with the reasons against it. */
export function optionsOf(context: TransitionContext, comment: string | null = null): Option[] {
  const { definition, state, approval } = context;
  if (approval) return approvalOptions(context, approval);
  return transitionsFrom(definition, state).map((transition) => moveOption(context, transition, comment));
}

function moveOption(context: TransitionContext, transition: Transition, comment: string | null): Option {
  const { caller } = context;
  const { name, to, requiresApproval, permission } = transition;
  const needed = requiresApproval ? approvalsNeeded(approversOf(transition), caller.userId) : 0;
  const objections = objectionsTo(context, to);
  const missing = [
    ...missingExecute(caller),
    ...(permission !== null && !holds(caller as Caller, permission)
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
  const entity = { entityType: context.definition.entityType, entityId: context.entityId };
  const approval = requestApproval(entity, transition, caller, {
    id: context.approvalId,
    comment,
    entityVersion: context.entityVersion,
    now: context.now,
    needed: needed!,
  });
  return { ...option, reasons: [], effect: { kind: 'request', approval } };
}

/** While a request is open there are two options: the requested state approves it, the former state denies it. */
const approvalOptions = (context: TransitionContext, approval: Approval): Option[] => [
  agreeOption(context, approval),
  denyOption(context, approval),
];

function agreeOption(context: TransitionContext, approval: Approval): Option {
  const { caller, votes, delegators } = context;
  const seat = seatToAgree(approval, votes, caller, delegators);
  const objections = objectionsTo(context, approval.targetState);
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

function denyOption({ caller, delegators }: TransitionContext, approval: Approval): Option {
  const isRequester = caller.userId === approval.requestedBy;
  const decider = seatToDecide(approval, caller, delegators);
  const missing = [
    ...missingExecute(caller),
    ...(!isRequester && 'reason' in decider ? [decider.reason] : []),
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

const objectionsTo = ({ objections }: TransitionContext, target: string): Objection[] =>
  objections.filter(({ targetState }) => targetState === target || targetState === '*');

const missingExecute = (caller: Person): string[] =>
  holds(caller as Caller, 'Workflow.Transitions.Execute')
    ? []
    : ['You need the permission Workflow.Transitions.Execute.'];
