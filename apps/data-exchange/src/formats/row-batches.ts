import { said } from '@plinth/conventions/exchange/convert';
import { rowText, type RowTextKey } from '@plinth/conventions/exchange/row-texts';
import type { FailedRow } from '../domain/failed-row';
import type { FileRow, RowFaultReason } from './read-csv';

/** Rows of a file that become one transaction of the owner. */
export interface RowBatch {
  number: number;
  rowCount: number;
  firstRow: number;
  lastRow: number;
  /** Rows with their mapped cells, as JSON. */
  payload: Buffer;
  /** Rows that the owner never sees. */
  localFailures: FailedRow[];
  /** All cells of some rows. Nobody asks for those of most rows, so they are read again from what was sent. */
  cellsOf(rowNumbers: ReadonlySet<number>): Map<number, string[]>;
}

type NumberedRow = [rowNumber: number, ...cells: string[]];

const ROWS_MAX = 4_000;
/** Three bytes for each at most, which a gRPC message still takes. */
const PAYLOAD_LENGTH_MAX = 1_000_000;

/**
 * Cuts rows into numbered batches of mapped cells. The same file is always cut the same way, because a number must
 * stand for the same rows however often they are read. Batches up to `after` are passed over.
 * A batch holds bytes and no objects: it lives as long as its transaction, and a collector of garbage would copy
 * its cells again and again.
 */
export async function* rowBatches(
  pieces: AsyncIterable<FileRow[]>,
  { positions, columnCount }: { positions: readonly number[]; columnCount: number },
  after = 0,
): AsyncGenerator<RowBatch> {
  const sendsAllCells =
    positions.length === columnCount && positions.every((position, index) => position === index);
  let number = 1;
  let draft = new BatchDraft(sendsAllCells);
  for await (const piece of pieces) {
    for (const row of piece) {
      const text = row.fault ? '' : textOf(row, positions);
      if (draft.isFullFor(text)) {
        if (number > after) yield draft.finish(number);
        number++;
        draft = new BatchDraft(sendsAllCells);
      }
      draft.add(row, text);
    }
  }
  if (draft.rowCount > 0 && number > after) yield draft.finish(number);
}

class BatchDraft {
  rowCount = 0;
  private firstRow = 0;
  private lastRow = 0;
  private length = 0;
  private readonly sent = new JsonRows();
  private readonly whole = new JsonRows();
  private readonly failures: FailedRow[] = [];
  private readonly failedCells = new Map<number, string[]>();

  constructor(private readonly sendsAllCells: boolean) {}

  isFullFor(text: string): boolean {
    return (
      this.rowCount === ROWS_MAX || (this.rowCount > 0 && this.length + text.length > PAYLOAD_LENGTH_MAX)
    );
  }

  add(row: FileRow, text: string): void {
    if (this.rowCount === 0) this.firstRow = row.number;
    this.lastRow = row.number;
    this.rowCount++;
    const fault = text.length > PAYLOAD_LENGTH_MAX ? 'too-long' : row.fault;
    if (fault) {
      this.failures.push(failureOf(row, fault));
      this.failedCells.set(row.number, row.cells);
      return;
    }
    this.sent.add(text);
    this.length += text.length;
    if (!this.sendsAllCells) this.whole.add(JSON.stringify([row.number, ...row.cells]));
  }

  finish(number: number): RowBatch {
    const { rowCount, firstRow, lastRow, failures: localFailures, failedCells } = this;
    const payload = this.sent.end();
    const whole = this.sendsAllCells ? payload : this.whole.end();
    const cellsOf = (rowNumbers: ReadonlySet<number>) => {
      const rows = JSON.parse(whole.toString()) as NumberedRow[];
      const wanted = rows.filter(([rowNumber]) => rowNumbers.has(rowNumber));
      return new Map([
        ...failedCells,
        ...wanted.map(([rowNumber, ...cells]): [number, string[]] => [rowNumber, cells]),
      ]);
    };
    return { number, rowCount, firstRow, lastRow, payload, localFailures, cellsOf };
  }
}

/** A JSON array that grows in place. */
class JsonRows {
  private bytes = Buffer.allocUnsafe(64 * 1024);
  private length = 0;

  add(text: string): void {
    // A character takes three bytes at most, and there must be room for a bracket at either end.
    const needed = this.length + text.length * 3 + 2;
    if (needed > this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes], Math.max(needed, this.bytes.length * 2));
    }
    this.length += this.bytes.write(this.length === 0 ? '[' : ',', this.length, 'latin1');
    this.length += this.bytes.write(text, this.length);
  }

  end(): Buffer {
    if (this.length === 0) return Buffer.from('[]');
    return this.bytes.subarray(0, this.length + this.bytes.write(']', this.length, 'latin1'));
  }
}

function textOf({ number, cells }: FileRow, positions: readonly number[]): string {
  const values: (number | string)[] = [number];
  for (const position of positions) values.push(cells[position] ?? '');
  return JSON.stringify(values);
}

const reasons: Record<RowFaultReason, { code: string; text: RowTextKey }> = {
  'unclosed-quote': { code: 'UnclosedQuote', text: 'unclosedQuote' },
  'too-long': { code: 'RecordLength', text: 'recordLength' },
  'too-many-columns': { code: 'Columns', text: 'tooManyColumns' },
  'too-many-cells': { code: 'Columns', text: 'tooManyCells' },
  'invalid-bytes': { code: 'Encoding', text: 'encoding' },
};

const failureOf = ({ number }: FileRow, fault: RowFaultReason): FailedRow => ({
  rowNumber: number,
  kind: 'Conversion',
  details: [
    {
      column: null,
      value: null,
      code: `Service:Conversion:${reasons[fault].code}`,
      ...said(rowText(reasons[fault].text)),
    },
  ],
});
