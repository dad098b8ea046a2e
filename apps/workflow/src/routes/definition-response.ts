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

/** The same of a definition that is JSON. */
export const toDefinitionJson = ({ definition, ...version }: DefinitionVersion<string>): string =>
  `${definition.slice(0, -1)},${JSON.stringify(version).slice(1)}`;
