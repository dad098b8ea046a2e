import type { RowQuotaDeps } from './row-quota';

/**
 * A text of more bytes is long. The bytes of all others are bounded well enough by how many rows there may be; so nothing is
 * counted of them, and they have no place in an index. The indexes in which long texts are counted have the same number.
 */
export const SHORT_TEXT_BYTES_MAX = 1_024;

/** The bytes of a text that is long together with its names; 0 of any other. */
export function longTextBytes(text: string | null, ...names: readonly string[]): number {
  const bytes = [text ?? '', ...names].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  return bytes > SHORT_TEXT_BYTES_MAX ? bytes : 0;
}

/** The bytes of these columns of a row together, as SQL; that reads no long text. */
export const bytesOfColumns = (...columns: readonly string[]): string =>
  columns.map((column) => `octet_length(${column})`).join(' + ');

/** What a quota of rows counts where long texts are limited by the bytes of these columns. */
export const bytesOfLongTexts = (
  ...columns: readonly string[]
): Required<Pick<RowQuotaDeps, 'where' | 'measure'>> => ({
  where: `${bytesOfColumns(...columns)} > ${SHORT_TEXT_BYTES_MAX}`,
  measure: `sum(${bytesOfColumns(...columns)})`,
});
