import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { takeInSteps, type FailedRowWithCells } from '../domain/failed-row';
import { bytesOfParts, FailedPartsDraft } from './failed-row-store';

const partsOf = async (rows: Iterable<FailedRowWithCells>) => {
  const draft = new FailedPartsDraft();
  const taking = takeInSteps(rows[Symbol.iterator](), (row) => {
    draft.add(row);
    return true;
  });
  await new EventLoopTurns().takeEach({ tenantId: 'acme', userId: 'ada' }, taking);
  return draft.take();
};

describe('failed rows as they are stored', () => {
  it('have no characters at which Postgres fails, also in messages of owners', async () => {
    const half = '\ud800';
    const [part] = await partsOf([
      {
        rowNumber: 2,
        kind: 'Validation',
        details: [{ column: 'na\0me', value: half, code: 'Code', message: '\\u0000 is not \0' }],
        cells: ['\0', half],
      },
    ]);
    expect(JSON.parse(part!.details.toString())).toEqual([
      2,
      'Validation',
      [{ column: 'na␀me', value: '\ufffd', code: 'Code', message: '\\u0000 is not ␀' }],
    ]);
    expect(JSON.parse(part!.cells.toString())).toEqual(['␀', '\ufffd']);
  });

  it('are made in many turns of the event loop', async () => {
    const details = Array.from({ length: 100 }, () => ({ column: 'a', value: 'b', code: 'c', message: 'd' }));
    const rows = Array.from({ length: 4_000 }, (_, at): FailedRowWithCells => ({
      rowNumber: at + 2,
      kind: 'Validation',
      details,
      cells: ['a'],
    }));
    let turns = 0;
    const count = () => void (turns++, (next = setImmediate(count)));
    let next = setImmediate(count);
    const parts = await partsOf(rows);
    clearImmediate(next);

    expect(turns).toBeGreaterThan(200);
    expect(parts.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(4_000);
    expect(parts.map(({ lastRow }) => lastRow).at(-1)).toBe(4_001);
    const lines = parts.flatMap((part) => part.details.toString().split('\n'));
    expect(lines.map((line) => (JSON.parse(line) as [number])[0])).toEqual(
      rows.map(({ rowNumber }) => rowNumber),
    );
    expect(bytesOfParts(parts)).toBeGreaterThan(rows.length * 100 * '{"column":"a"}'.length);
  });
});
