import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import type {
  ApprovalMode,
  SaveWorkflowDefinitionRequest,
  WorkflowApprovalTimers,
  WorkflowTransition,
} from '@plinth/contracts/workflow/shapes';
import type { ValidationRule } from '@plinth/kernel/problem';
import type { z } from 'zod';

export type Transition = z.output<typeof WorkflowTransition>;
export type Timers = z.output<typeof WorkflowApprovalTimers>;

/** Where entities of one type may stand and how they get from one state to another. */
export interface Definition {
  entityType: string;
  initialState: string;
  states: readonly string[];
  /** Where an entity may stay for ever. */
  finalStates: readonly string[];
  transitions: readonly Transition[];
}

/** Who may agree to a move, and how many of them must. */
export interface Approvers {
  permission: string | null;
  users: readonly string[];
  mode: ApprovalMode;
  count: number | null;
}

/** Who approves where a definition does not say. */
const DEFAULT_APPROVER_PERMISSION = 'Workflow.Transitions.Approve';

/** Addresses that this area uses for itself (`/workflow/approvals`, …). */
const RESERVED_TYPES = ['definitions', 'approvals', 'delegations', 'transitions'];

/** One thing that is wrong with a definition. */
export interface Fault {
  /** Property path in the request. */
  path: string;
  rule: ValidationRule;
  message: string;
}

export const approversOf = ({ approvers }: Transition): Approvers => {
  const isOpen = !approvers || (approvers.permission === null && approvers.users.length === 0);
  if (!isOpen) return approvers;
  return {
    users: [],
    mode: approvers?.mode ?? 'Any',
    count: approvers?.count ?? null,
    permission: DEFAULT_APPROVER_PERMISSION,
  };
};

export const transitionsFrom = (definition: Definition, state: string): Transition[] =>
  definition.transitions.filter(({ from }) => from === state);

/** Completes what a definition may leave out: states that only transitions name, and final states. */
export function toDefinition(
  entityType: string,
  request: z.output<typeof SaveWorkflowDefinitionRequest>,
): Definition {
  const { initialState, transitions } = request;
  const named = transitions.flatMap(({ from, to }) => [from, to]);
  const states = request.states ?? [...new Set([initialState, ...named])];
  const finalStates =
    request.finalStates ?? states.filter((state) => !transitions.some(({ from }) => from === state));
  return { entityType, initialState, states, finalStates, transitions };
}

/**
 * Everything that is wrong with a definition.
 * `finalStatesGiven` says that its author named the final states, so that any other state without a way to one is an
 * oversight.
 */
export function faultsOf(
  definition: Definition,
  options: { finalStatesGiven: boolean; knownPermissions: readonly string[] },
): Fault[] {
  return [
    ...faultsOfNames(definition),
    ...definition.transitions.flatMap((transition, index) =>
      faultsOfTransition(definition, transition, `transitions[${index}]`, options.knownPermissions),
    ),
    ...faultsOfReach(definition, options.finalStatesGiven),
  ];
}

function faultsOfNames({ entityType, initialState, states, finalStates, transitions }: Definition): Fault[] {
  const faults: Fault[] = [];
  if (RESERVED_TYPES.includes(entityType)) {
    faults.push({
      path: 'entityType',
      rule: 'Format',
      message: `"${entityType}" is an address of this area.`,
    });
  }
  if (!states.includes(initialState)) {
    faults.push({
      path: 'initialState',
      rule: 'Enum',
      message: `The initial state "${initialState}" is not a state.`,
    });
  }
  states.forEach((state, index) => {
    const path = `states[${index}]`;
    if (state === PENDING_APPROVAL)
      faults.push({ path, rule: 'Format', message: `"${state}" is where entities wait for a decision.` });
    if (states.indexOf(state) < index)
      faults.push({ path, rule: 'Unique', message: `The state "${state}" is there twice.` });
  });
  finalStates.forEach((state, index) => {
    const path = `finalStates[${index}]`;
    if (!states.includes(state))
      faults.push({ path, rule: 'Enum', message: `The final state "${state}" is not a state.` });
  });
  transitions.forEach(({ from, to, name }, index) => {
    const earlier = transitions.findIndex((other) => other.from === from && other.to === to);
    if (earlier < index) {
      const message = `There are two transitions from "${from}" to "${to}"; "${name}" is the second.`;
      faults.push({ path: `transitions[${index}]`, rule: 'Unique', message });
    }
  });
  return faults;
}

function faultsOfTransition(
  { states }: Definition,
  transition: Transition,
  path: string,
  knownPermissions: readonly string[],
): Fault[] {
  const faults: Fault[] = [];
  const { name, from, to, requiresApproval, timers } = transition;
  const add = (member: string, rule: ValidationRule, message: string) =>
    faults.push({ path: `${path}${member}`, rule, message });

  if (!states.includes(from)) add('.from', 'Enum', `"${name}" starts from "${from}", which is not a state.`);
  if (!states.includes(to)) add('.to', 'Enum', `"${name}" leads to "${to}", which is not a state.`);
  for (const [member, permission] of permissionsOf(transition)) {
    if (permission !== null && !knownPermissions.includes(permission))
      add(member, 'Enum', `"${name}" needs the permission "${permission}", which does not exist.`);
  }
  if (requiresApproval && from === to)
    add('.to', 'Format', `"${name}" stays in "${from}": approving and denying it would be the same.`);
  const approverFault = requiresApproval ? faultOfApprovers(approversOf(transition)) : undefined;
  if (approverFault) add('.approvers', 'Range', `"${name}" can never be approved: ${approverFault}`);
  if (timers) faultsOfTimers(timers).forEach((fault) => add('.timers', 'Range', `"${name}": ${fault}`));
  return faults;
}

const permissionsOf = ({ permission, approvers, timers }: Transition): [string, string | null][] => [
  ['.permission', permission],
  ['.approvers.permission', approvers?.permission ?? null],
  ['.timers.escalateTo.permission', timers?.escalateTo?.permission ?? null],
];

function faultOfApprovers({ mode, count, users, permission }: Approvers): string | undefined {
  const named = new Set(users).size;
  if (mode === 'All' && (permission !== null || named === 0))
    return 'all of those who hold a permission cannot be counted; name users.';
  if (mode === 'Count' && count === null) return 'the mode Count needs a count.';
  if (mode === 'Count' && permission === null && named < count!)
    return `${count} must agree and ${named} are named.`;
  return undefined;
}

function faultsOfTimers(timers: Timers): string[] {
  const { remindAfterSeconds, escalateAfterSeconds, escalateTo, expireAfterSeconds } = timers;
  const someone = escalateTo !== null && (escalateTo.permission !== null || escalateTo.users.length > 0);
  const end = expireAfterSeconds ?? Infinity;
  return [
    ...(escalateAfterSeconds !== null && !someone ? ['escalateTo names nobody.'] : []),
    ...(escalateAfterSeconds === null && someone
      ? ['escalateTo is never reached without escalateAfterSeconds.']
      : []),
    ...((remindAfterSeconds ?? 0) >= end ? ['the reminder comes after the end.'] : []),
    ...((escalateAfterSeconds ?? 0) >= end ? ['the escalation comes after the end.'] : []),
  ];
}

function faultsOfReach(definition: Definition, finalStatesGiven: boolean): Fault[] {
  const { initialState, states, finalStates, transitions } = definition;
  const reachable = closure([initialState], (state) =>
    transitions.filter(({ from }) => from === state).map(({ to }) => to),
  );
  const ending = closure(finalStates, (state) =>
    transitions.filter(({ to }) => to === state).map(({ from }) => from),
  );
  return states.flatMap((state, index): Fault[] => {
    const path = `states[${index}]`;
    const isLeft = transitions.some(({ from }) => from === state);
    const faults: Fault[] = [];
    if (!reachable.has(state))
      faults.push({
        path,
        rule: 'Format',
        message: `The state "${state}" cannot be reached from "${initialState}".`,
      });
    if (!isLeft && !finalStates.includes(state))
      faults.push({
        path,
        rule: 'Format',
        message: `The state "${state}" is a dead end and not a final state.`,
      });
    else if (finalStatesGiven && finalStates.length > 0 && !ending.has(state))
      faults.push({ path, rule: 'Format', message: `No final state can be reached from "${state}".` });
    return faults;
  });
}

function closure(start: readonly string[], next: (state: string) => readonly string[]): Set<string> {
  const found = new Set(start);
  for (const state of found) next(state).forEach((neighbour) => found.add(neighbour));
  return found;
}
