import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { DefinitionVersion } from '../domain/definition';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';

const ENTITIES_MAX = 10_000;
const DEFINITIONS_MAX = 500;
/** A definition with more transitions and approvers is read each time. */
const DEFINITION_SIZE_MAX = 200;

type Definition = Pick<EntitySnapshot, 'definition' | 'definitionStamp'>;

interface Position extends Pick<EntitySnapshot, 'state' | 'revision' | 'moves'> {
  /** For an approval. */
  isWaiting: boolean;
}

const NEVER_MOVED: Position = { state: undefined, revision: 0, moves: 0, isWaiting: false };

/**
 * How this process last saw entities and the definitions of their types, so that a move can be decided without a reading:
 * whoever moves an entity has often just made it, or just looked where it may go. It may be outdated, since other
 * processes move entities too, so what is decided by it is compared by the statement that writes it.
 */
export class EntityMemory {
  private readonly positions = new BoundedMap<string, Position>(ENTITIES_MAX);
  private readonly definitions = new BoundedMap<string, Definition>(DEFINITIONS_MAX);

  remember({ tenantId, entityType, entityId }: EntityKey, seen: Definition & Position): void {
    const { definition, definitionStamp, state, revision, moves, isWaiting } = seen;
    this.positions.set(`${tenantId}/${entityType}/${entityId}`, { state, revision, moves, isWaiting });
    if (definition && sizeOf(definition) <= DEFINITION_SIZE_MAX)
      this.definitions.set(`${tenantId}/${entityType}`, { definition, definitionStamp });
  }

  /**
   * The entity as it was seen last; one that was not seen is taken for one that was never moved. Undefined where it is to be
   * read: its definition was not seen, or it waits for an approval.
   */
  recall({ tenantId, entityType, entityId }: EntityKey): EntitySnapshot | undefined {
    const definition = this.definitions.get(`${tenantId}/${entityType}`);
    const position = this.positions.get(`${tenantId}/${entityType}/${entityId}`) ?? NEVER_MOVED;
    if (!definition || position.isWaiting) return undefined;
    const { state, revision, moves } = position;
    return { ...definition, state, revision, moves, approval: undefined, votes: [], delegators: [] };
  }
}

const sizeOf = ({ definition: { transitions } }: DefinitionVersion): number =>
  transitions.reduce((size, { approvers }) => size + 1 + (approvers?.users.length ?? 0), 0);
