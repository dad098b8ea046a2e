/** As many characters as the view `timeline_entry` takes: 256 ids that were made together begin with the same ones. */
export const HEAD_LENGTH = 16;

const SURROGATE = /[\uD800-\uDFFF]/;

/** The beginning of an entity's id, by which the entries that it shares with others are found; of whole characters. */
export function entityIdHead(entityId: string): string {
  const head = entityId.slice(0, HEAD_LENGTH);
  if (!SURROGATE.test(head)) return head;
  return Array.from(entityId.slice(0, 2 * HEAD_LENGTH))
    .slice(0, HEAD_LENGTH)
    .join('');
}
