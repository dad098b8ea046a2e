import type { RowQuotaDeps } from './row-quota';

type LongRows = Required<Pick<RowQuotaDeps, 'where' | 'measure'>>;

/**
 * A text of more bytes is long. The bytes of all others are bounded well enough by how many rows there may be; so nothing is
 * counted of them, and they have no place in an index. The indexes in which long texts are counted have the same number.
 */
export const SHORT_TEXT_BYTES_MAX = 1_024;

/** The bytes of a text that is long together with its names; 0 of any other. */
export const longTextBytes = (text: string | null, ...names: readonly string[]): number =>
  longBytes(bytesOfTexts(text ?? '', ...names));

/** The same of bytes that are summed otherwise. */
export const longBytes = (bytes: number): number => (bytes > SHORT_TEXT_BYTES_MAX ? bytes : 0);

/** The bytes of texts together. */
export const bytesOfTexts = (...texts: readonly string[]): number =>
  texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0);

/** The bytes of these columns of a row together, as SQL; that reads no long text. */
export const bytesOfColumns = (...columns: readonly string[]): string =>
  columns.map((column) => `octet_length(${column})`).join(' + ');

/** What a quota of rows counts where long texts are limited by the bytes of these columns. */
export const bytesOfLongTexts = (...columns: readonly string[]): LongRows =>
  bytesOfLongRows(bytesOfColumns(...columns));

/** The same where the bytes of a row are summed otherwise, as SQL. */
export const bytesOfLongRows = (bytes: string): LongRows => ({
  where: `${bytes} > ${SHORT_TEXT_BYTES_MAX}`,
  measure: `sum(${bytes})`,
});
