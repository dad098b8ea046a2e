import { countedReads } from '../../test/counted-reads';
import type { FailedRowWithCells } from '../domain/failed-row';
import { correctionWorkbook } from './correction-file';

const COLUMNS = 500;

describe('the correction file of a workbook', () => {
  it('looks at the errors of a wide row once, and not for each of its cells', async () => {
    const columns = Array.from({ length: COLUMNS }, (_, index) => index);
    const { counted, reads } = countedReads(columns);
    const row: FailedRowWithCells = {
      rowNumber: 2,
      kind: 'Conversion',
      details: [],
      cells: columns.map(() => '#N/A'),
      errorCells: counted,
    };
    const headers = columns.map((index) => `Column ${index + 1}`);
    for await (const _ of correctionWorkbook(
      headers,
      (async function* () {
        yield [row];
      })(),
    ));

    expect(reads()).toBe(COLUMNS);
  });
});
