import { atOnce } from '@plinth/exchange/in-turns';
import { plainFormat } from '../../test/plain-format';
import { formatOfCorrection } from './correction-file-format';
import { CsvReader } from './csv-reader';
import type { CsvFormat } from './file-format';

const found: CsvFormat = { ...plainFormat, delimiter: ';' };

describe('formatOfCorrection', () => {
  it.each([
    ['first', ['_Errors', 'code', 'preis', 'lat'], [0, 3]],
    ['between others', ['code', 'preis', '_Errors', 'lat'], [2, 3]],
    ['last', ['code', 'preis', 'lat', '_Errors'], [2]],
    ['nowhere', ['code', 'preis', 'lat'], [2]],
  ])(
    'finds the unclear columns of an upload whose column of errors was %s',
    (_where, headers, unclearColumns) => {
      const earlier = { format: { ...found, decimalSeparator: ',' as const, unclearColumns }, headers };
      const head = Buffer.from('code;preis;lat;_Errors\nA;1,5;48.137;unclear\n');

      expect(atOnce(formatOfCorrection(head, found, [earlier]))).toMatchObject({ unclearColumns: [2] });
    },
  );

  it('reads a header as long as its head once for each way to read it, in a step of its own', () => {
    const pieces = jest.spyOn(CsvReader.prototype, 'push');
    const ways = [';', ',', '\t', '|'].map((delimiter) => ({ ...found, delimiter }));
    const earlier = Array.from({ length: 20 }, (_, at) => ({ format: ways[at % 4]!, headers: ['code'] }));
    const steps = formatOfCorrection(Buffer.from(';'.repeat(65_536)), found, earlier);
    let pauses = 0;
    while (!steps.next().done) pauses++;

    expect(pauses).toBe(4);
    expect(pieces.mock.calls.length).toBeLessThanOrEqual(4 * 6);
    const length = pieces.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0);
    expect(length).toBe(4 * 65_536);
    pieces.mockRestore();
  });
});
