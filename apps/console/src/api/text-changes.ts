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

export const nameOf = ({ resourceName, key, cultureName }: Omit<TextChange, 'value'>): string =>
  JSON.stringify([resourceName, key, cultureName]);

/** Those of which the text is not among the others. */
export function without(changes: readonly TextChange[], others: readonly TextChange[]): TextChange[] {
  const names = new Set(others.map(nameOf));
  return changes.filter((change) => !names.has(nameOf(change)));
}

/** The rest of it, where others are sent after it: those have the last word about their texts. */
export const withoutLater = (
  { changes, before, expected }: TextChanges,
  later: readonly TextChange[],
): TextChanges => ({
  changes: without(changes, later),
  before: without(before, later),
  ...(expected ? { expected: without(expected, later) } : {}),
});

interface Row {
  resourceName: string;
  key: string;
  values: {
    cultureName: string;
    value: string | null;
    platformValue: string | null;
    replacedValue: string | null;
    hasDrifted: boolean;
  }[];
}

/** A row as it is after changes of texts; the same one where they are about others. */
export function withChanges<Changed extends Row>(row: Changed, changes: readonly TextChange[]): Changed {
  const { resourceName, key } = row;
  const own = changes.filter((change) => change.resourceName === resourceName && change.key === key);
  if (own.length === 0) return row;
  const values = row.values.map((cell) => {
    const change = own.findLast(({ cultureName }) => cultureName === cell.cultureName);
    if (!change || change.value === cell.value) return cell;
    return { ...cell, value: change.value, replacedValue: cell.platformValue, hasDrifted: false };
  });
  return { ...row, values };
}
