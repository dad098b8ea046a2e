import { plainFormat } from '../../test/plain-format';
import { formatOfCorrection } from './correction-file-format';
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

      expect(formatOfCorrection(head, found, [earlier])).toMatchObject({ unclearColumns: [2] });
    },
  );
});
