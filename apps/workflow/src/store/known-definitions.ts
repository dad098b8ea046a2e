import type { DefinitionRow } from './definition-versions';

/** Characters of the bodies as JSON, which take several times as many bytes when they are read. */
const CHARACTERS_MAX = 8_000_000;

/** A version of a definition, which never changes. */
export type KnownDefinition = Pick<DefinitionRow, 'version' | 'body'>;

/**
 * The bodies of definitions that this process read before, so that a decision reads which version is the newest, and its
 * body only where it is not known: one of 256 KiB costs more than all else that a decision does.
 */
export class KnownDefinitions {
  /** By owner and entity type, the one that was used longest ago first. */
  private readonly known = new Map<string, KnownDefinition & { characters: number }>();
  private characters = 0;

  constructor(private readonly charactersMax = CHARACTERS_MAX) {}

  recall(owner: string, entityType: string): KnownDefinition | undefined {
    return this.known.get(keyOf(owner, entityType));
  }

  remember({ tenantId, entityType, version, body }: DefinitionRow): void {
    const key = keyOf(tenantId, entityType);
    const known = this.known.get(key);
    const characters = known?.version === version ? known.characters : JSON.stringify(body).length;
    this.known.delete(key);
    this.known.set(key, { version, body, characters });
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
