import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import { effectiveDefinition, stampOf } from './definition-versions';
import type { KnownDefinitions } from './known-definitions';

const ENTITIES_MAX = 10_000;

interface Position extends Pick<EntitySnapshot, 'state' | 'revision' | 'moves'> {
  /** For an approval. */
  isWaiting: boolean;
}

const NEVER_MOVED: Position = { state: undefined, revision: 0, moves: 0, isWaiting: false };

/**
 * How this process last saw entities, so that a move can be decided by it and by the known definitions without a reading:
 * whoever moves an entity has often just made it, or just looked where it may go. It may be outdated, since other
 * processes move entities too, so what is decided by it is compared by the statement that writes it.
 */
export class EntityMemory {
  private readonly positions = new BoundedMap<string, Position>(ENTITIES_MAX);

  constructor(private readonly definitions: Pick<KnownDefinitions, 'recallNewest'>) {}

  remember(key: EntityKey, { state, revision, moves, isWaiting }: Position): void {
    this.positions.set(nameOf(key), { state, revision, moves, isWaiting });
  }

  /**
   * The entity as it was seen last; one that was not seen is taken for one that was never moved. Undefined where it is to be
   * read: its definition is not known, or it waits for an approval.
   */
  recall(key: EntityKey): EntitySnapshot | undefined {
    const { tenantId, entityType } = key;
    const { isWaiting, ...position } = this.positions.get(nameOf(key)) ?? NEVER_MOVED;
    const versions = isWaiting ? undefined : this.definitions.recallNewest(tenantId, entityType);
    const definition = versions && effectiveDefinition(versions, tenantId);
    if (!definition) return undefined;
    const definitionStamp = stampOf(versions);
    return {
      definition,
      definitionStamp,
      ...position,
      approval: undefined,
      movingUntil: null,
      votes: [],
      delegators: [],
    };
  }
}

/** A type has no line break, and may have any other character that an id has. */
const nameOf = ({ tenantId, entityType, entityId }: EntityKey): string =>
  `${tenantId}\n${entityType}\n${entityId}`;
