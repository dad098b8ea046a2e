/** What becomes of one text in one culture; null is the text of the platform. */
export interface TextChange {
  resourceName: string;
  key: string;
  cultureName: string;
  value: string | null;
}

/** What is sent together. */
export interface TextChanges {
  changes: readonly TextChange[];
  /** The same texts as they were before, as far as that is known. */
  before: readonly TextChange[];
  /** The same as they must be for being written over, where that is not {@link before}. */
  expected?: readonly TextChange[];
}

export const nameOf = ({ resourceName, key, cultureName }: TextChange): string =>
  JSON.stringify([resourceName, key, cultureName]);

/** The rest of it, where others are sent after it: those have the last word about their texts. */
export function withoutLater({ changes, before }: TextChanges, later: readonly TextChange[]): TextChanges {
  const names = new Set(later.map(nameOf));
  const isLast = (change: TextChange) => !names.has(nameOf(change));
  return { changes: changes.filter(isLast), before: before.filter(isLast) };
}
