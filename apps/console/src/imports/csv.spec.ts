import { unguard } from '@plinth/kernel/formula-guard';
import fc from 'fast-check';
import { parse } from 'papaparse';
import { correctedFormat, correctedName, correctionsOf, isNamedCorrected } from './corrections';
import { csvOf } from './csv';

describe('a file of corrected rows', () => {
  it('is read with the cells that were typed, whatever they hold', () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom('', ' a ', '"', "'=1", "''-2", '=1+1', "a;'=1", 'a,b', 'a\r\nb', "'tis"),
    );
    const delimiters = fc.constantFrom(',', ';', '\t', '|', ' ');
    const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1 });
    fc.assert(
      fc.property(table, delimiters, (rows, delimiter) => {
        const { data } = parse<string[]>(
          csvOf(rows, delimiter)
            .replace(/^\uFEFF/, '')
            .replace(/\r\n$/, ''),
          {
            delimiter,
            newline: '\r\n',
          },
        );
        expect(data.map((row) => row.map(unguard))).toEqual(rows);
      }),
    );
  });

  it('is a correction file, whose numbers and dates are read as those of the upload', () => {
    const rows = [['Ada', 'old error', '1,234;5']];
    expect(correctionsOf({ delimiter: ';' }, ['name', '_Errors', 'sum'], rows)).toBe(
      '\uFEFFname;sum;_Errors\r\nAda;"1,234;5";\r\n',
    );
    expect(correctionsOf({ delimiter: null }, ['name'], [['Ada']])).toBe('\uFEFFname\r\nAda\r\n');
  });

  it('has the cells that no column is above, so that the row is refused again', () => {
    expect(correctionsOf({ delimiter: ';' }, ['name', 'sum'], [['Ada', '1', '2', '3']])).toBe(
      '\uFEFFname;sum;_Errors\r\nAda;1;;2;3\r\n',
    );
    expect(correctionsOf({ delimiter: ';' }, ['name', '_Errors'], [['Ada', 'old error', '2']])).toBe(
      '\uFEFFname;_Errors\r\nAda;;2\r\n',
    );
  });
});

describe('the name of corrected rows', () => {
  it.each([
    ['people.xlsx', 'people_corrected.csv'],
    ['people', 'people_corrected.csv'],
    ['people_corrected.csv', 'people_corrected.csv'],
    ['people_errors.xlsx', 'people_corrected.csv'],
    ['a.b.csv', 'a.b_corrected.csv'],
  ])('of %s is %s', (fileName, corrected) => {
    expect(correctedName(fileName)).toBe(corrected);
    expect(isNamedCorrected(corrected)).toBe(true);
    expect(isNamedCorrected(fileName)).toBe(/_(corrected|errors)/.test(fileName));
  });
});

describe('the format of corrected rows', () => {
  const upload = { decimalSeparator: '.', dateOrder: 'DayMonthYear' } as const;

  it.each([
    [upload, {}],
    [{ ...upload, dateOrder: 'MonthDayYear' as const }, { dateOrder: 'DayMonthYear' }],
    [{ ...upload, decimalSeparator: ',' }, { decimalSeparator: '.' }],
  ])('found as %j is corrected by %j only', (found, correction) => {
    expect(correctedFormat(upload, found)).toEqual(correction);
  });

  it('is left as it was found where the upload has none', () => {
    expect(correctedFormat({ decimalSeparator: null, dateOrder: null }, upload)).toEqual({});
  });
});
