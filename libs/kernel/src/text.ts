/** True for text that cannot be stored: it holds NUL or half of a surrogate pair. */
export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** Number of characters as a person counts code points. */
export const lengthOf = (text: string): number => [...text].length;

/** Where in a JSON value the first unstorable text stands (as a value or a property name), as a property path. */
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
