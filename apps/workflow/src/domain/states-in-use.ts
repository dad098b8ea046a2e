import type { Definition } from './definition';
import { definitionStrandsEntities } from './problems';

/** Those of the states that a definition does not have. */
export const statesWithout = (states: Iterable<string>, next: Pick<Definition, 'states'>): string[] =>
  [...states].filter((state) => !next.states.includes(state));

/**
 * Refuses a definition without a state that entities are in.
 * @param stranded how many entities are in states that it does not have, by state
 * @throws Problem `conflict`, which names them
 */
export function requireNoneStranded(entityType: string, stranded: ReadonlyMap<string, number>): void {
  if (stranded.size > 0) throw definitionStrandsEntities(entityType, stranded);
}
