import {
  APPROVER_BYTES_MAX,
  DEFINITION_BYTES_MAX,
  PENDING_APPROVAL,
} from '@plinth/contracts/workflow/shapes';
import type { ValidationRule } from '@plinth/kernel/problem';
import { builtInDefinitions } from './definitions/built-in';
import {
  approversOf,
  type Approvers,
  type Definition,
  type DefinitionError,
  type Timers,
  type Transition,
} from './definition';
import { definitionUnsound } from './problems';

/** Paths that this service uses itself (`/workflow/approvals`, …). */
const RESERVED_ENTITY_TYPES = ['definitions', 'approvals', 'delegations', 'transitions'];

export interface RequestOptions {
  bodyEntityType: string | undefined;
  finalStatesGiven: boolean;
  knownPermissions: readonly string[];
  /** Another service owns the state of these entities. */
  hasOwner: boolean;
}

/** Everything for which a definition would be refused. */
export const findRequestErrors = (definition: Definition, options: RequestOptions): DefinitionError[] => [
  ...findEntityTypeErrors(definition, options.bodyEntityType),
  ...(options.hasOwner ? findOwnedStateErrors(definition) : []),
  ...findDefinitionErrors(definition, options),
];

/**
 * Refuses a definition that cannot work.
 * @throws Problem `invalid`: `errors` says where, its extension `faults` lists all errors in sentences.
 */
export function validateDefinition(definition: Definition, options: RequestOptions): void {
  const errors = findRequestErrors(definition, options);
  if (errors.length > 0) throw definitionUnsound(errors);
}

const findEntityTypeErrors = ({ entityType }: Definition, inBody: string | undefined): DefinitionError[] =>
  inBody === undefined || inBody === entityType
    ? []
    : [
        {
          path: 'entityType',
          rule: 'Immutable',
          message: `The address says "${entityType}", the body "${inBody}".`,
        },
      ];

/** The owner knows these states and no others. */
function findOwnedStateErrors({ entityType, states, initialState }: Definition): DefinitionError[] {
  const builtIn = builtInDefinitions.get(entityType);
  if (!builtIn) return [];
  const same =
    states.length === builtIn.states.length && builtIn.states.every((state) => states.includes(state));
  if (same && initialState === builtIn.initialState) return [];
  const message = `The states of ${entityType} are kept by its service: ${builtIn.states.join(', ')}, first ${builtIn.initialState}.`;
  return [{ path: 'states', rule: 'Immutable', message }];
}

/**
 * Everything that is wrong with a definition.
 * `finalStatesGiven` says that its author named the final states, so that any other state without a way to one is an
 * oversight.
 */
export function findDefinitionErrors(
  definition: Definition,
  options: { finalStatesGiven: boolean; knownPermissions: readonly string[] },
): DefinitionError[] {
  const sizeErrors = findSizeErrors(definition);
  // It is refused whatever else is in it, of which there may be several times as much.
  if (sizeErrors.length > 0) return sizeErrors;
  return [
    ...findNameErrors(definition),
    ...definition.transitions.flatMap((transition, index) =>
      findTransitionErrors(definition, transition, `transitions[${index}]`, options.knownPermissions),
    ),
    ...findReachabilityErrors(definition, options.finalStatesGiven),
  ];
}

function findSizeErrors(definition: Definition): DefinitionError[] {
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes <= DEFINITION_BYTES_MAX) return [];
  const message = `The definition has ${bytes} bytes as JSON; ${DEFINITION_BYTES_MAX} are allowed.`;
  return [{ path: 'transitions', rule: 'MaximumLength', message }];
}

function findNameErrors({
  entityType,
  initialState,
  states,
  finalStates,
  transitions,
}: Definition): DefinitionError[] {
  const errors: DefinitionError[] = [];
  if (RESERVED_ENTITY_TYPES.includes(entityType)) {
    errors.push({
      path: 'entityType',
      rule: 'Format',
      message: `"${entityType}" is an address of this area.`,
    });
  }
  if (!states.includes(initialState)) {
    errors.push({
      path: 'initialState',
      rule: 'Enum',
      message: `The initial state "${initialState}" is not a state.`,
    });
  }
  states.forEach((state, index) => {
    const path = `states[${index}]`;
    if (state === PENDING_APPROVAL)
      errors.push({ path, rule: 'Format', message: `"${state}" is where entities wait for a decision.` });
    if (states.indexOf(state) < index)
      errors.push({ path, rule: 'Unique', message: `The state "${state}" is there twice.` });
  });
  finalStates.forEach((state, index) => {
    const path = `finalStates[${index}]`;
    if (!states.includes(state))
      errors.push({ path, rule: 'Enum', message: `The final state "${state}" is not a state.` });
  });
  transitions.forEach(({ from, to, name }, index) => {
    const earlier = transitions.findIndex((other) => other.from === from && other.to === to);
    if (earlier < index) {
      const message = `There are two transitions from "${from}" to "${to}"; "${name}" is the second.`;
      errors.push({ path: `transitions[${index}]`, rule: 'Unique', message });
    }
  });
  return errors;
}

function findTransitionErrors(
  { states }: Definition,
  transition: Transition,
  path: string,
  knownPermissions: readonly string[],
): DefinitionError[] {
  const errors: DefinitionError[] = [];
  const { name, from, to, requiresApproval, timers } = transition;
  const add = (member: string, rule: ValidationRule, message: string) =>
    errors.push({ path: `${path}${member}`, rule, message });

  if (!states.includes(from)) add('.from', 'Enum', `"${name}" starts from "${from}", which is not a state.`);
  if (!states.includes(to)) add('.to', 'Enum', `"${name}" leads to "${to}", which is not a state.`);
  for (const [member, permission] of permissionsOf(transition)) {
    if (permission !== null && !knownPermissions.includes(permission))
      add(member, 'Enum', `"${name}" needs the permission "${permission}", which does not exist.`);
  }
  if (requiresApproval && from === to)
    add('.to', 'Format', `"${name}" stays in "${from}": approving and denying it would be the same.`);
  const approverError = requiresApproval ? findApproverError(approversOf(transition)) : undefined;
  if (approverError) add('.approvers', 'Range', `"${name}" can never be approved: ${approverError}`);
  const tooLong = findTooLongApprovers(transition);
  if (tooLong)
    add(
      tooLong.member,
      'MaximumLength',
      `"${name}" names users with ${tooLong.bytes} bytes; ${APPROVER_BYTES_MAX} are allowed, with those it escalates to.`,
    );
  if (timers) findTimerErrors(timers).forEach((message) => add('.timers', 'Range', `"${name}": ${message}`));
  return errors;
}

const permissionsOf = ({ permission, approvers, timers }: Transition): [string, string | null][] => [
  ['.permission', permission],
  ['.approvers.permission', approvers?.permission ?? null],
  ['.timers.escalateTo.permission', timers?.escalateTo?.permission ?? null],
];

function findApproverError({ mode, count, users, permission }: Approvers): string | undefined {
  const named = new Set(users).size;
  if (mode === 'All' && (permission !== null || named === 0))
    return 'all of those who hold a permission cannot be counted; name users.';
  if (mode === 'Count' && count === null) return 'the mode Count needs a count.';
  if (mode === 'Count' && permission === null && named < count!)
    return `${count} must agree and ${named} are named.`;
  return undefined;
}

/** The list with which the users of a transition become too long; definitions that were saved before work as they are. */
function findTooLongApprovers({
  approvers,
  timers,
}: Transition): { member: string; bytes: number } | undefined {
  const bytesOf = (users: readonly string[] = []) =>
    users.reduce((sum, user) => sum + Buffer.byteLength(user), 0);
  const named = bytesOf(approvers?.users);
  const bytes = named + bytesOf(timers?.escalateTo?.users);
  if (bytes <= APPROVER_BYTES_MAX) return undefined;
  const isFirst = named > APPROVER_BYTES_MAX;
  return { member: isFirst ? '.approvers.users' : '.timers.escalateTo.users', bytes };
}

function findTimerErrors(timers: Timers): string[] {
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

function findReachabilityErrors(definition: Definition, finalStatesGiven: boolean): DefinitionError[] {
  const { initialState, states, finalStates, transitions } = definition;
  const reachable = closure([initialState], (state) =>
    transitions.filter(({ from }) => from === state).map(({ to }) => to),
  );
  const ending = closure(finalStates, (state) =>
    transitions.filter(({ to }) => to === state).map(({ from }) => from),
  );
  return states.flatMap((state, index): DefinitionError[] => {
    const path = `states[${index}]`;
    const isLeft = transitions.some(({ from }) => from === state);
    const errors: DefinitionError[] = [];
    if (!reachable.has(state))
      errors.push({
        path,
        rule: 'Format',
        message: `The state "${state}" cannot be reached from "${initialState}".`,
      });
    if (!isLeft && !finalStates.includes(state))
      errors.push({
        path,
        rule: 'Format',
        message: `The state "${state}" is a dead end and not a final state.`,
      });
    else if (finalStatesGiven && finalStates.length > 0 && !ending.has(state))
      errors.push({ path, rule: 'Format', message: `No final state can be reached from "${state}".` });
    return errors;
  });
}

function closure(start: readonly string[], next: (state: string) => readonly string[]): Set<string> {
  const found = new Set(start);
  for (const state of found) next(state).forEach((neighbour) => found.add(neighbour));
  return found;
}
