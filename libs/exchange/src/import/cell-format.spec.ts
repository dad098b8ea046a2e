import { rowConverter, type RawRow } from './convert-rows';
import { defineExchange } from '../definition';
import { dateField, integerField, numberField, textField, timestampField } from '../fields';
import type { CellFormat } from './cell-format';

const things = defineExchange({
  name: 'Test.Things',
  entityType: 'Thing',
  permission: 'Settings.Tenant.Manage',
  importable: true,
  table: 'thing',
  key: ['name'],
  defaultSort: 'name',
  searchable: [],
  fields: {
    name: textField({ column: 'name', header: 'Name', lengthMax: 100 }),
    price: numberField({ column: 'price', header: 'Price' }),
    stock: integerField({ column: 'stock', header: 'Stock' }),
    since: dateField({ column: 'since', header: 'Since' }),
    seenAt: timestampField({ column: 'seen_at', header: 'Seen at' }),
  },
});

const read = (property: string, cell: string, format: CellFormat) => {
  const row: RawRow = [2, 'n', cell];
  const { rows, errors } = rowConverter(things, ['name', property], format)([row]);
  return rows[0]?.values[property] ?? errors[0]?.message;
};

const comma = { decimalSeparator: ',' };

describe('a cell of a file that writes numbers with a comma', () => {
  it.each([
    ['price', '1.234,56', '1234.56'],
    ['price', '-1 234 567,5', '-1234567.5'],
    ['price', '1\u202f234,5', '1234.5'],
    ['price', "1'234,5", '1234.5'],
    ['price', '12,500', '12.500'],
    ['price', '1.234', '1234'],
    ['price', ',5', '0.5'],
    ['price', '1,5E3', '1.5E3'],
    ['stock', '1.234', 1234],
    ['name', '1.234,56', '1.234,56'],
  ])('of %s reads %j as %j', (property, cell, expected) => {
    expect(read(property, cell, comma)).toBe(expected);
  });

  it.each([
    ['price', '1.5', 'Price must be a number such as 1.234,56.'],
    ['price', '1,234,567', 'Price must be a number such as 1.234,56.'],
    ['price', '12.34,5', 'Price must be a number such as 1.234,56.'],
    ['price', 'ten', 'Price must be a number such as 1.234,56.'],
    ['price', '0.123', 'Price must be a number such as 1.234,56.'],
    ['price', "1.234'567", 'Price must be a number such as 1.234,56.'],
    ['price', '12\n345', 'Price must be a number such as 1.234,56.'],
    ['stock', '12,5', 'Stock must be a whole number.'],
  ])('of %s refuses %j instead of reading another number', (property, cell, message) => {
    expect(read(property, cell, comma)).toBe(message);
  });
});

const dot = { decimalSeparator: '.' };

describe('a cell of a file that writes numbers with a dot', () => {
  it.each([
    ['price', '10,500.00', '10500.00'],
    ['price', '-1,234,567', '-1234567'],
    ['price', '12,34,567.50', '1234567.50'],
    ['price', "1'234.05", '1234.05'],
    ['price', '1 234.5', '1234.5'],
    ['price', '.5', '0.5'],
    ['price', '1.5E3', '1.5E3'],
    ['stock', '1,010', 1010],
  ])('of %s reads %j as %j', (property, cell, expected) => {
    expect(read(property, cell, dot)).toBe(expected);
  });

  it.each([
    ['price', '1,5', 'Price must be a number.'],
    ['price', '1.234,56', 'Price must be a number.'],
    ['price', '1,23,4567', 'Price must be a number.'],
    ['price', '10%', 'Price must be a number.'],
    ['price', '0,123', 'Price must be a number.'],
    ['price', '-0,123', 'Price must be a number.'],
    ['price', '012,345', 'Price must be a number.'],
    ['price', '01,23,456', 'Price must be a number.'],
    ['price', '12 345,678', 'Price must be a number.'],
    ['price', '12\n345', 'Price must be a number.'],
    ['price', '12\t345', 'Price must be a number.'],
    ['stock', '1,010.5', 'Stock must be a whole number.'],
  ])('of %s refuses %j instead of reading another number', (property, cell, message) => {
    expect(read(property, cell, dot)).toBe(message);
  });
});

describe('a cell of a file whose columns have different signs before decimals', () => {
  const mixed = (decimalSeparator: string, currency?: string) => ({
    decimalSeparator,
    currency,
    hasOtherDecimals: true,
  });

  it.each([
    ['1.234,56', mixed(','), '1234.56'],
    ['1.234.567', mixed(','), '1234567'],
    ['1 234', mixed(','), '1234'],
    ['1,234', mixed(','), '1.234'],
    ['1,234.56', mixed('.'), '1234.56'],
    ['1,234,567', mixed('.'), '1234567'],
    ['1.234', mixed('.'), '1.234'],
    ['$1,234.56', mixed('.', '$'), '1234.56'],
  ])('reads %j, which has one meaning', (cell, format, expected) => {
    expect(read('price', cell, format)).toBe(expected);
  });

  it.each([
    ['48.137', mixed(',')],
    ['-48.137', mixed(',')],
    ['1.234E3', mixed(',')],
    ['1.234-', mixed(',')],
    ['1.234 €', mixed(',', '€')],
    ['1,234', mixed('.')],
    ['1,2', mixed('.')],
    ['$1,234', mixed('.', '$')],
  ])('refuses %j instead of reading another number', (cell, format) => {
    expect(read('price', cell, format)).toMatch(/^Price must be a number/);
  });
});

describe('an amount', () => {
  it.each([
    ['1.234,56 €', comma, '€', '1234.56'],
    ['€ -1.234,56', comma, '€', '-1234.56'],
    ['1.234 €', comma, '€', '1234'],
    ['1.234,56-', comma, undefined, '-1234.56'],
    ['$1,234.56', dot, '$', '1234.56'],
    ['$1,234', dot, '$', '1234'],
    ['0,125 €', comma, '€', '0.125'],
    ['$0.125', dot, '$', '0.125'],
    ['-$5.00', dot, '$', '-5.00'],
    ['($5.00)', dot, '$', '-5.00'],
    ['US$ 1,234.56', dot, 'US$', '1234.56'],
    ["CHF 1'234.05", dot, 'CHF', '1234.05'],
    ['5.00 CHF', dot, 'CHF', '5.00'],
    ['$5', {}, '$', '5'],
    ['(5 €)', {}, '€', '-5'],
    ['5.50', {}, '€', '5.50'],
  ])('%j is a number', (cell, format, currency, expected) => {
    expect(read('price', cell, { ...format, currency })).toBe(expected);
  });

  it.each(['£5.00', 'EUR 5.00', '$5.00 €', '-($5.00)', '(5.00', '5.00)', 'ABC 5.00', '$', '$5,0'])(
    '%j is none, or not in the currency of the file',
    (cell) => {
      expect(read('price', cell, { ...dot, currency: '$' })).toBe('Price must be a number.');
    },
  );

  it.each([
    ['1.234 €', {}, '€'],
    ['1.234,50 €', {}, '€'],
    ['$1,234', {}, '$'],
    ['1,234', {}, undefined],
    ['1.234 €', dot, '€'],
    ['$1,234', comma, '$'],
    ['KWD 1,234', dot, 'KWD'],
    ['5.00 €', dot, undefined],
    ['5.00 €', dot, ''],
  ])('%j is refused where the file does not show what it is', (cell, format, currency) => {
    expect(read('price', cell, { ...format, currency })).toMatch(/^Price must be a number/);
  });
});

describe('a column whose dots may stand before thousands or decimals', () => {
  const format = { decimalSeparator: ',', unclearColumns: [1] };

  it('is read where its cells show what they are, as other columns are', () => {
    expect(read('price', '48.137', { ...format, unclearColumns: [0] })).toBe('48137');
    expect(read('price', '48.137,5', format)).toBe('48137.5');
    expect(read('price', '48', format)).toBe('48');
  });

  it.each(['-48.137', '48.137-', '(48.137)', '48.137 €'])(
    'is refused elsewhere, and says why: %s',
    (cell) => {
      expect(read('price', cell, { ...format, currency: '€' })).toBe(
        'Price must be a number; the file does not show whether its dot or comma groups digits or separates decimals.',
      );
    },
  );
});

describe('a cell as long as a file', () => {
  it.each(['T', ' ', '.', '1', '1,', '1 '])('of %j is no number and no date', (piece) => {
    const cell = `1${piece.repeat(1_000_000 / piece.length)}x\ny`;
    for (const format of [
      { ...comma, dateOrder: 'DayMonthYear' },
      { ...dot, currency: '€' },
    ])
      for (const property of ['price', 'since', 'seenAt'])
        expect(read(property, cell, format)).toMatch(/ must be a /);
  });

  it('is no date where it is one up to a midnight behind many blanks', () => {
    expect(read('since', `2026-04-03${' '.repeat(100)}00:00`, {})).toMatch(/^Since must be a date/);
    expect(read('seenAt', `21.11.2026${' '.repeat(100)}9:30`, { dateOrder: 'DayMonthYear' })).toMatch(
      /^Seen at must be a date and time/,
    );
  });
});

describe('a date in a file', () => {
  it.each([
    ['DayMonthYear', '03.04.2026', '2026-04-03'],
    ['DayMonthYear', '3/4/2026', '2026-04-03'],
    ['MonthDayYear', '03/04/2026', '2026-03-04'],
    ['YearMonthDay', '2026/3/4', '2026-03-04'],
    ['DayMonthYear', '2026/3/4', '2026-03-04'],
    ['MonthDayYear', '2026-11-21', '2026-11-21'],
    ['DayMonthYear', '03.04.2026 00:00', '2026-04-03'],
    ['MonthDayYear', '3/4/2026 12:00:00 AM', '2026-03-04'],
    ['', '2026-04-03 00:00:00.000', '2026-04-03'],
    ['', '2026-04-03T00:00:00Z', '2026-04-03'],
    ['', '20010304', '2001-03-04'],
    ['MonthDayYear', '20010304', '2001-03-04'],
    ['', '4-Mar-2001', '2001-03-04'],
    ['DayMonthYear', '4. März 2001', '2001-03-04'],
    ['', '4th March 2001', '2001-03-04'],
    ['', 'Mar 4, 2001', '2001-03-04'],
    ['', '4 févr. 2001', '2001-02-04'],
  ])('is read in the order %s: %j is %s', (dateOrder, cell, expected) => {
    expect(read('since', cell, { dateOrder })).toBe(expected);
  });

  it.each([
    ['DayMonthYear', '31.02.2026', 'Since must be a date such as 21.11.2026.'],
    ['DayMonthYear', '04/13/2026', 'Since must be a date such as 21.11.2026.'],
    ['MonthDayYear', '13/04/2026', 'Since must be a date such as 11/21/2026.'],
    ['', '4-Mar-01', 'Since must be a date such as 2026-11-21.'],
    ['', '04032001', 'Since must be a date such as 2026-11-21.'],
    ['', '31-Feb-2001', 'Since must be a date such as 2026-11-21.'],
    ['', '4 Moon 2001', 'Since must be a date such as 2026-11-21.'],
    ['DayMonthYear', '3.4.26', 'Since must be a date such as 21.11.2026.'],
    ['', '03.04.2026', 'Since must be a date such as 2026-11-21.'],
    ['', '2026-04-03T22:00:00Z', 'Since must be a date such as 2026-11-21.'],
    ['', '2026-04-03T00:00:00+02:00', 'Since must be a date such as 2026-11-21.'],
    ['DayMonthYear', '03.04.2026 09:00', 'Since must be a date such as 21.11.2026.'],
  ])('in the order %s is refused instead of guessed: %j', (dateOrder, cell, message) => {
    expect(read('since', cell, { dateOrder })).toBe(message);
  });

  it.each([
    ['DayMonthYear', '21.11.2026 9:30', '2026-11-21T09:30:00.000Z'],
    ['DayMonthYear', '21.11.2026', '2026-11-21T00:00:00.000Z'],
    ['MonthDayYear', '11/21/2026, 9:30:15 PM', '2026-11-21T21:30:15.000Z'],
    ['MonthDayYear', '11/21/2026 12:05 am', '2026-11-21T00:05:00.000Z'],
    ['DayMonthYear', '2026-11-21T10:00:00+02:00', '2026-11-21T08:00:00.000Z'],
    ['', '20010304', '2001-03-04T00:00:00.000Z'],
    ['DayMonthYear', '4-Mar-2001', '2001-03-04T00:00:00.000Z'],
  ])('with a time, in the order %s: %j is %s', (dateOrder, cell, expected) => {
    expect(read('seenAt', cell, { dateOrder })).toBe(expected);
  });

  it.each(['21.11.2026 25:00', '21.11.2026 13:00 PM', '21.11.2026 noon'])(
    'with an impossible time is refused: %j',
    (cell) => {
      expect(read('seenAt', cell, { dateOrder: 'DayMonthYear' })).toBe(
        'Seen at must be a date and time such as 21.11.2026 10:00.',
      );
    },
  );
});

describe('a cell that says that there is nothing', () => {
  it.each([
    ['price', 'NULL'],
    ['stock', 'n/a'],
    ['since', ' N/A '],
    ['since', '–'],
    ['seenAt', '\\N'],
  ])('is none of %s: %j', (property, cell) => {
    for (const format of [{}, { decimalSeparator: ',', dateOrder: 'DayMonthYear' }])
      expect(rowConverter(things, ['name', property], format)([[2, 'n', cell]]).rows[0]?.values).toEqual({
        name: 'n',
        [property]: null,
      });
  });

  it('is a text where texts stand, and a dash among numbers an error, since it may be a zero', () => {
    expect(read('name', 'Null', {})).toBe('Null');
    expect(read('price', '-', {})).toBe('Price must be a number.');
  });
});
