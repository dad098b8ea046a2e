import { lengthOfNames, type Dependencies } from '../render/language/dependencies';

/** Of the names of all revisions together, and of one revision. */
const LENGTH_MAX = 4_000_000;
const REVISION_LENGTH_MAX = 100_000;

interface Remembered {
  /** Of the last two renderings, both of them. */
  names: Dependencies;
  /** Of the last one. */
  last: Dependencies;
  length: number;
}

/**
 * What revisions depend on each time, so that they are evaluated once the next time. Names that are made of data are others
 * each time: who chose them for one rendering chooses nothing for the next one.
 */
export class RememberedDependencies {
  private readonly byRevision = new Map<string, Remembered>();
  private length = 0;

  of(revisionId: string): Dependencies | undefined {
    const names = this.byRevision.get(revisionId)?.names;
    return names && lengthOf(names) > 0 ? names : undefined;
  }

  /** @param last what a rendering was evaluated with; very much of it is not remembered */
  remember(revisionId: string, last: Dependencies): void {
    const before = this.byRevision.get(revisionId)?.last ?? last;
    this.forget(revisionId);
    const names = {
      partials: common(before.partials, last.partials),
      texts: common(before.texts, last.texts),
      settings: common(before.settings, last.settings),
    };
    const length = lengthOf(last) + lengthOf(names);
    if (length === 0 || length > REVISION_LENGTH_MAX) return;
    if (this.length + length > LENGTH_MAX) {
      this.byRevision.clear();
      this.length = 0;
    }
    this.byRevision.set(revisionId, { names, last, length });
    this.length += length;
  }

  forget(revisionId: string): void {
    this.length -= this.byRevision.get(revisionId)?.length ?? 0;
    this.byRevision.delete(revisionId);
  }
}

const common = (one: readonly string[], other: readonly string[]): string[] => {
  const names = new Set(other);
  return one.filter((name) => names.has(name));
};

const lengthOf = (names: Dependencies): number => lengthOfNames(Object.values(names).flat());
