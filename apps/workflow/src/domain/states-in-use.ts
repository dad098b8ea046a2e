import type { Definition } from './definition';
import { definitionStrandsEntities } from './problems';

/**
 * Refuses a definition without a state that entities are in.
 * @throws Problem `conflict`, which names the states and how many entities each holds.
 */
export function requireStatesStillUsed(
  { entityType, states }: Definition,
  entitiesByState: ReadonlyMap<string, number>,
): void {
  const stranded = new Map([...entitiesByState].filter(([state]) => !states.includes(state)));
  if (stranded.size > 0) throw definitionStrandsEntities(entityType, stranded);
}
