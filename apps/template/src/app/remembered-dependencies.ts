import type { Dependencies } from '../render/language/dependencies';

/** Of the names of all revisions together, and of one revision. */
const LENGTH_MAX = 4_000_000;
const REVISION_LENGTH_MAX = 50_000;
/** A name takes as much memory as so many more characters. */
const NAME_LENGTH_MIN = 50;

interface Remembered {
  names: Dependencies;
  length: number;
}

/** What revisions depended on the last time, so that they are evaluated once the next time. */
export class RememberedDependencies {
  private readonly byRevision = new Map<string, Remembered>();
  private length = 0;

  of(revisionId: string): Dependencies | undefined {
    return this.byRevision.get(revisionId)?.names;
  }

  /** Names that are made of data are others each time: a revision that depends on very many begins anew. */
  remember(revisionId: string, names: Dependencies): void {
    this.length -= this.byRevision.get(revisionId)?.length ?? 0;
    this.byRevision.delete(revisionId);
    const length = Object.values(names)
      .flat()
      .reduce((sum: number, name: string) => sum + NAME_LENGTH_MIN + name.length, 0);
    if (length === 0 || length > REVISION_LENGTH_MAX) return;
    if (this.length + length > LENGTH_MAX) {
      this.byRevision.clear();
      this.length = 0;
    }
    this.byRevision.set(revisionId, { names, length });
    this.length += length;
  }
}
