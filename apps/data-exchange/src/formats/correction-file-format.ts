import { unguard } from '@plinth/kernel/formula-guard';
import { correctionColumns, correctionHeaders } from '@plinth/contracts/data-exchange/correction-file';
import { CsvReader } from './csv-reader';
import type { CsvFormat, FileFormat } from './file-format';
import { uniqueHeaders } from './header-names';

/** Its head is read in such pieces, as far as the header. */
const PIECE_BYTES = 4_096;

/** An import with failed rows. */
export interface EarlierImport {
  format: FileFormat;
  headers: readonly string[] | null;
}

/**
 * The format of the correction file of an earlier import: that of the import. Its few rows may not show their encoding
 * or the order of their dates.
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
    // The bytes were not checked for an encoding that was not detected, so each row is checked.
    const hasInvalidBytes = encoding === found.encoding ? found.hasInvalidBytes : true;
    const cells = withColumnsOf(headers, withoutLayout(format));
    const read = { ...cells, encoding, hasByteOrderMark, endsWithCr, hasInvalidBytes };
    if (JSON.stringify(headerOf(head, read)) === JSON.stringify(correctionHeaders(headers))) return read;
  }
  return undefined;
}

/** A correction file is written with a header in its first row and usual quotes, whatever its upload was like. */
function withoutLayout({
  headerRow: _headerRow,
  headerRows: _headerRows,
  rowsBegin: _rowsBegin,
  lastRow: _lastRow,
  columnCount: _columnCount,
  quote: _quote,
  escape: _escape,
  skipsBlanks: _skipsBlanks,
  findings: _findings,
  ...format
}: CsvFormat): CsvFormat {
  return format;
}

/** Columns of the upload stand elsewhere in its correction file where it had errors before its last column. */
function withColumnsOf(headers: readonly string[], format: CsvFormat): CsvFormat {
  if (!format.unclearColumns) return format;
  const columns = correctionColumns(headers);
  const unclearColumns = format.unclearColumns.flatMap((position) => {
    const moved = columns.indexOf(position);
    return moved < 0 ? [] : [moved];
  });
  return { ...format, unclearColumns };
}

/** Unicode is detected reliably; all other encodings are guesses, which may have been corrected. */
const encodingOf = (found: CsvFormat, earlier: CsvFormat): CsvFormat['encoding'] =>
  !found.encoding.startsWith('utf-') && !earlier.encoding.startsWith('utf-')
    ? earlier.encoding
    : found.encoding;

function headerOf(head: Buffer, format: CsvFormat): string[] {
  const decoder = new TextDecoder(format.encoding);
  const reader = new CsvReader(format);
  for (let at = 0; at < head.length; at += PIECE_BYTES) {
    const text = decoder.decode(head.subarray(at, at + PIECE_BYTES), { stream: true });
    const [header] = reader.push(text);
    if (header) return uniqueHeaders(header.cells.map(unguard));
  }
  return [];
}
