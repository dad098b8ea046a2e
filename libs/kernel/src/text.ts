/** True for text that cannot be stored: it contains NUL or half of a surrogate pair. */
export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** The number of code points. */
export const lengthOf = (text: string): number => [...text].length;

/** The property path of the first unstorable text in a JSON value (a value or a property name). */
export function findUnstorable(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? path : undefined;
  if (Array.isArray(value)) return firstOf(value, (item, index) => findUnstorable(item, `${path}[${index}]`));
  if (value === null || typeof value !== 'object') return undefined;
  return firstOf(Object.entries(value), ([name, member]) =>
    isUnstorable(name) ? path : findUnstorable(member, path ? `${path}.${name}` : name),
  );
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
