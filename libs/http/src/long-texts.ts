import type { RowQuotaDeps } from './row-quota';

/**
 * A text of more bytes is long. The bytes of all others are bounded well enough by how many rows there may be; so nothing is
 * counted of them, and they cost no index anything. The indexes in which long texts are counted have the same number.
 */
export const SHORT_TEXT_BYTES_MAX = 1_024;

/** The bytes of a long text; 0 of any other. */
export function longTextBytes(text: string | null): number {
  const bytes = text === null ? 0 : Buffer.byteLength(text);
  return bytes > SHORT_TEXT_BYTES_MAX ? bytes : 0;
}

/** What a quota of rows counts of a column where its long texts are limited by their bytes; that reads no text. */
export const bytesOfLongTexts = (column: string): Pick<RowQuotaDeps, 'where' | 'measure'> => ({
  where: `octet_length(${column}) > ${SHORT_TEXT_BYTES_MAX}`,
  measure: `sum(octet_length(${column}))`,
});
