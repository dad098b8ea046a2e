import { unguard } from '@plinth/kernel/formula-guard';
import { correctionColumns, correctionHeaders } from '@plinth/contracts/data-exchange/correction-file';
import type { CsvFormat, FileFormat } from './file-format';
import { uniqueHeaders } from './header-names';
import { firstRecord } from './sample-records';

/** An import with failed rows. */
export interface EarlierImport {
  format: FileFormat;
  headers: readonly string[] | null;
}

/**
 * The format of the correction file of an earlier import: that of the import. Its few rows may not show their encoding
 * or the order of their dates. In steps: its header may be as long as its head, and is read for each way in which the files
 * of those imports were to be read.
 */
export function* formatOfCorrection(
  head: Buffer,
  found: CsvFormat,
  earlier: readonly EarlierImport[],
): Generator<void, CsvFormat | undefined> {
  const headers = headersOf(head);
  for (const { format, headers: wanted } of earlier) {
    if (format.kind !== 'csv' || !wanted) continue;
    const { hasByteOrderMark, endsWithCr } = found;
    const encoding = encodingOf(found, format);
    // The bytes were not checked for an encoding that was not detected, so each row is checked.
    const hasInvalidBytes = encoding === found.encoding ? found.hasInvalidBytes : true;
    const cells = withColumnsOf(wanted, withoutLayout(format));
    const read = { ...cells, encoding, hasByteOrderMark, endsWithCr, hasInvalidBytes };
    if (JSON.stringify(yield* headers(read)) === JSON.stringify(correctionHeaders(wanted))) return read;
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

/** The header of a head that is read by different formats, once by each that makes a difference to it. */
function headersOf(head: Buffer): (format: CsvFormat) => Generator<void, readonly string[]> {
  const known = new Map<string, readonly string[]>();
  return function* ({ encoding, delimiter, endsWithCr }) {
    const way = JSON.stringify([encoding, delimiter, endsWithCr]);
    const before = known.get(way);
    if (before) return before;
    yield;
    const text = new TextDecoder(encoding).decode(head, { stream: true });
    const cells = firstRecord(text, { delimiter, endsWithCr })?.cells ?? [];
    const headers = uniqueHeaders(cells.map(unguard));
    known.set(way, headers);
    return headers;
  };
}
