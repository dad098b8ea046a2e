import type {
  ApprovalMode,
  DefinitionScope,
  SaveWorkflowDefinitionRequest,
  WorkflowApprovalTimers,
  WorkflowTransition,
} from '@plinth/contracts/workflow/shapes';
import type { ValidationRule } from '@plinth/kernel/problem';
import type { z } from 'zod';

export type Transition = z.output<typeof WorkflowTransition>;
export type Timers = z.output<typeof WorkflowApprovalTimers>;

/** The states and transitions of an entity type. */
export interface Definition {
  entityType: string;
  initialState: string;
  states: readonly string[];
  /** Where an entity may stay for ever. */
  finalStates: readonly string[];
  transitions: readonly Transition[];
}

/** A version of a definition, and where it comes from. */
export interface DefinitionVersion<Body = Definition> {
  definition: Body;
  version: number;
  scope: DefinitionScope;
  /** Null for what the platform was delivered with. */
  savedAt: Date | null;
  savedBy: string | null;
}

/** One thing that is wrong with a definition. */
export interface DefinitionError {
  /** Property path in the request. */
  path: string;
  rule: ValidationRule;
  message: string;
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
