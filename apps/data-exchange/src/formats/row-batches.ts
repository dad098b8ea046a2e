import type { FailedRow } from '../domain/failed-row';
import type { FileRow, RowFaultReason } from './read-csv';

/** Rows of a file that become one transaction of the owner. */
export interface RowBatch {
  number: number;
  rows: FileRow[];
  /** Rows with their mapped cells, as JSON. */
  payload: Buffer;
  /** Rows that the owner never sees. */
  localFailures: FailedRow[];
}

const ROWS_MAX = 2_000;
/** Three bytes for each at most, which a gRPC message still takes. */
const PAYLOAD_LENGTH_MAX = 1_000_000;

/**
 * Cuts rows into numbered batches of mapped cells. The same file is always cut the same way, because a number must
 * stand for the same rows however often they are read. Batches up to `after` are passed over.
 */
export async function* rowBatches(
  pieces: AsyncIterable<FileRow[]>,
  positions: readonly number[],
  after = 0,
): AsyncGenerator<RowBatch> {
  let number = 1;
  let rows: FileRow[] = [];
  let texts: string[] = [];
  let failures: FailedRow[] = [];
  let length = 0;
  const take = (): RowBatch => {
    const batch = { number, rows, payload: Buffer.from(`[${texts.join(',')}]`), localFailures: failures };
    number++;
    rows = [];
    texts = [];
    failures = [];
    length = 0;
    return batch;
  };

  for await (const piece of pieces) {
    for (const row of piece) {
      const text = row.fault
        ? ''
        : JSON.stringify([row.number, ...positions.map((position) => row.cells[position] ?? '')]);
      if (rows.length === ROWS_MAX || (length + text.length > PAYLOAD_LENGTH_MAX && rows.length > 0)) {
        const batch = take();
        if (batch.number > after) yield batch;
      }
      rows.push(row);
      if (text.length > PAYLOAD_LENGTH_MAX) row.fault = 'too-long';
      if (row.fault) failures.push(failureOf(row, row.fault));
      else {
        texts.push(text);
        length += text.length;
      }
    }
  }
  if (rows.length > 0 && number > after) yield take();
}

const reasons: Record<RowFaultReason, { code: string; message: string }> = {
  'unclosed-quote': { code: 'UnclosedQuote', message: 'A quote is opened and never closed.' },
  'too-long': { code: 'RecordLength', message: 'The row is longer than a row may be.' },
  'too-many-columns': { code: 'Columns', message: 'The row has more columns than a file may have.' },
  'too-many-cells': { code: 'Columns', message: 'The row has more cells than the header has columns.' },
  'invalid-bytes': {
    code: 'Encoding',
    message: 'The row holds bytes that are no text in the encoding of the file.',
  },
};

const failureOf = ({ number }: FileRow, fault: RowFaultReason): FailedRow => ({
  rowNumber: number,
  kind: 'Conversion',
  details: [
    {
      column: null,
      value: null,
      code: `Service:Conversion:${reasons[fault].code}`,
      message: reasons[fault].message,
    },
  ],
});
