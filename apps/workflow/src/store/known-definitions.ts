import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import {
  newestVersionsOf,
  versionStampOf,
  type DefinitionRow,
  type NewestVersions,
} from './definition-versions';

/** Characters of keys and of bodies as JSON, which take several times as many bytes when they are read. */
const CHARACTERS_MAX = 8_000_000;

/** The newest version of a definition, as it was read last; without a row there was none. */
interface KnownDefinition {
  row: DefinitionRow | undefined;
  characters: number;
}

/**
 * The newest versions of definitions that this process read before. A decision reads which version is the newest, and its
 * body only where it is not known: one of 256 KiB costs more than all else that a decision does. A move may be decided by
 * them without a reading, where the statement that writes it compares their versions (`EntityMemory`).
 */
export class KnownDefinitions {
  /** By owner and entity type, the one that was read longest ago first. */
  private readonly known = new Map<string, KnownDefinition>();
  private characters = 0;

  constructor(private readonly charactersMax = CHARACTERS_MAX) {}

  recall(owner: string, entityType: string): DefinitionRow | undefined {
    return this.known.get(keyOf(owner, entityType))?.row;
  }

  /** The versions that the type depends on in a tenant; undefined where one of them was not read, or is forgotten. */
  recallNewest(tenantId: string, entityType: string): NewestVersions | undefined {
    const known = [tenantId, HOST_TENANT_ID].map((owner) => this.known.get(keyOf(owner, entityType)));
    if (known.includes(undefined)) return undefined;
    const rows = known.flatMap((one) => one?.row ?? []);
    return newestVersionsOf(entityType, tenantId, rows);
  }

  /** @param row undefined where the owner has no definition of this type */
  remember(owner: string, entityType: string, row: DefinitionRow | undefined): void {
    const key = keyOf(owner, entityType);
    const known = this.known.get(key);
    const isKnown = known !== undefined && versionStampOf(known.row) === versionStampOf(row);
    const characters = isKnown ? known.characters : key.length + (row ? JSON.stringify(row.body).length : 0);
    this.known.delete(key);
    this.known.set(key, { row, characters });
    this.characters += characters - (known?.characters ?? 0);
    for (const [oldest, one] of this.known) {
      if (this.characters <= this.charactersMax) return;
      this.known.delete(oldest);
      this.characters -= one.characters;
    }
  }
}

/** The type comes last, since it may have any character. */
const keyOf = (owner: string, entityType: string): string => `${owner}/${entityType}`;
