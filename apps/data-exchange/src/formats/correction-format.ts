import { ERRORS_COLUMN } from './correction-file';
import { CsvReader } from './csv-reader';
import type { CsvFormat, FileFormat } from './file-format';
import { unguard } from './formula-guard';
import { uniqueHeaders } from './read-csv';

/** An import that gave rows back. */
export interface EarlierImport {
  format: FileFormat;
  headers: readonly string[] | null;
}

/**
 * How a file is to be read that is the correction file of an earlier import: as that import was. Its few rows may not
 * show any more in which encoding they are, or whether the day or the month comes first.
 */
export function formatOfCorrection(
  head: Buffer,
  found: CsvFormat,
  earlier: readonly EarlierImport[],
): CsvFormat | undefined {
  for (const { format, headers } of earlier) {
    if (format.kind !== 'csv' || !headers) continue;
    const { hasByteOrderMark, endsWithCr } = found;
    const encoding = encodingOf(found, format);
    // Of an encoding that was not found nobody has checked the bytes yet: each row says so for itself.
    const hasInvalidBytes = encoding === found.encoding ? found.hasInvalidBytes : true;
    const read = { ...format, encoding, hasByteOrderMark, endsWithCr, hasInvalidBytes };
    const expected = [...headers.filter((header) => header !== ERRORS_COLUMN), ERRORS_COLUMN];
    if (JSON.stringify(headerOf(head, read)) === JSON.stringify(expected)) return read;
  }
  return undefined;
}

/** Unicode shows; Windows-1252 is what all other bytes are taken for, and may have been corrected. */
const encodingOf = (found: CsvFormat, earlier: CsvFormat): CsvFormat['encoding'] =>
  found.encoding === 'windows-1252' && !earlier.encoding.startsWith('utf-')
    ? earlier.encoding
    : found.encoding;

function headerOf(head: Buffer, format: CsvFormat): string[] {
  const text = new TextDecoder(format.encoding).decode(head, { stream: true });
  const [header] = new CsvReader(format).push(text);
  return uniqueHeaders((header?.cells ?? []).map(unguard));
}
