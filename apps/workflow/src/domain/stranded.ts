import { workflowProblems } from '@plinth/contracts/workflow/problems';
import type { Definition } from './definition';

/**
 * Refuses a definition that lacks a state in which entities stand.
 * @throws Problem `conflict`, which names the states and how many entities each holds.
 */
export function requireNobodyStranded(
  { entityType, states }: Definition,
  entitiesByState: ReadonlyMap<string, number>,
): void {
  const stranded = [...entitiesByState].filter(([state]) => !states.includes(state));
  if (stranded.length === 0) return;
  const names = stranded.map(([state, entities]) => `${state} (${entities})`).join(', ');
  throw workflowProblems['workflow-definition-strands-entities'](
    `Entities of ${entityType} stand in states that would be gone: ${names}.`,
    { extensions: { strandedStates: Object.fromEntries(stranded) } },
  );
}
