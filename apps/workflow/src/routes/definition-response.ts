import type { DefinitionVersion } from '../domain/definition';

export const toDefinitionResponse = ({
  definition,
  version,
  scope,
  savedAt,
  savedBy,
}: DefinitionVersion) => ({
  entityType: definition.entityType,
  version,
  scope,
  initialState: definition.initialState,
  states: [...definition.states],
  finalStates: [...definition.finalStates],
  transitions: definition.transitions.map((transition) => ({ ...transition })),
  savedAt,
  savedBy,
});
