import type { WorkflowDefinition, WorkflowTransition } from '../api/workflow';

/** A definition while it is drawn. */
export type DefinitionDraft = Pick<
  WorkflowDefinition,
  'initialState' | 'states' | 'finalStates' | 'transitions'
>;

/** What a definition begins with. */
export const emptyDraft = (first: string): DefinitionDraft => ({
  initialState: first,
  states: [first],
  finalStates: [first],
  transitions: [],
});

/** The steps that can be undone once one of them was saved: those after it, if only the one that is shown now. */
export function stepsAfter(
  saved: DefinitionDraft,
  steps: readonly DefinitionDraft[],
): readonly DefinitionDraft[] {
  const index = steps.indexOf(saved);
  return index < 0 ? [saved, ...steps.slice(-1)] : steps.slice(index);
}

const withoutRules = { permission: null, requiresApproval: false, approvers: null, timers: null };

/** A name that none of the names is: “New state”, “New state 2”. */
export function unusedName(wanted: string, names: readonly string[]): string {
  let name = wanted;
  for (let number = 2; names.includes(name); number++) name = `${wanted} ${number}`;
  return name;
}

export const addState = (draft: DefinitionDraft, name: string): DefinitionDraft => ({
  ...draft,
  states: [...draft.states, unusedName(name, draft.states)],
});

/** The state has its new name wherever it is named. */
export function renameState(draft: DefinitionDraft, former: string, next: string): DefinitionDraft {
  const renamed = (state: string) => (state === former ? next : state);
  return {
    initialState: renamed(draft.initialState),
    states: draft.states.map(renamed),
    finalStates: draft.finalStates.map(renamed),
    transitions: draft.transitions.map((transition) => ({
      ...transition,
      from: renamed(transition.from),
      to: renamed(transition.to),
    })),
  };
}

/** Transitions of the state go with it. */
export const removeState = (draft: DefinitionDraft, state: string): DefinitionDraft => ({
  ...draft,
  states: draft.states.filter((one) => one !== state),
  finalStates: draft.finalStates.filter((one) => one !== state),
  transitions: draft.transitions.filter(({ from, to }) => from !== state && to !== state),
});

/** Connects two states once; what is left is no end any more. */
export function connect(draft: DefinitionDraft, from: string, to: string, name: string): DefinitionDraft {
  if (draft.transitions.some((one) => one.from === from && one.to === to)) return draft;
  const names = draft.transitions.filter((one) => one.from === from).map((one) => one.name);
  const transition = { ...withoutRules, name: unusedName(name, names), from, to };
  return {
    ...draft,
    finalStates: draft.finalStates.filter((state) => state !== from),
    transitions: [...draft.transitions, transition],
  };
}

export const changeTransition = (
  draft: DefinitionDraft,
  index: number,
  change: Partial<WorkflowTransition>,
): DefinitionDraft => ({
  ...draft,
  transitions: draft.transitions.map((one, at) => (at === index ? { ...one, ...change } : one)),
});

export const removeTransition = (draft: DefinitionDraft, index: number): DefinitionDraft => ({
  ...draft,
  transitions: draft.transitions.filter((_, at) => at !== index),
});

/** The part of the picture that an error is about: `transitions[2].to`, `states[0]`, or the whole. */
export function partOf(
  path: string,
  draft: DefinitionDraft,
): { kind: 'state' | 'transition'; index: number } | undefined {
  const [, list, number] = /^(states|transitions|finalStates)\[(\d+)\]/.exec(path) ?? [];
  if (list === 'transitions') return { kind: 'transition', index: Number(number) };
  if (list === 'states') return { kind: 'state', index: Number(number) };
  if (list === 'finalStates')
    return { kind: 'state', index: draft.states.indexOf(draft.finalStates[Number(number)]!) };
  return undefined;
}
