import fc from 'fast-check';
import { kindOfFormat } from './cell-styles';
import { isoDateText, numberText, unescapeText } from './cell-text';

describe('a number of a workbook', () => {
  it.each([
    ['0.30000000000000004', 'number', '0.3'],
    ['0.14000000000000001', 'number', '0.14'],
    ['12345678901234', 'number', '12345678901234'],
    ['1E-7', 'number', '1e-7'],
    ['46347', 'date', '2026-11-21'],
    ['46347.4375', 'date', '2026-11-21T10:30:00.000Z'],
    ['1', 'date', '1900-01-01'],
    ['61', 'date', '1900-03-01'],
    ['0.5', 'time', '12:00:00'],
    ['1.5', 'time', '36:00:00'],
    ['-1', 'date', '-1'],
    ['99999999', 'date', '99999999'],
    ['', 'date', ''],
    ['1067', '00000', '01067'],
    ['101067', '00000', '101067'],
    ['-7', '000', '-7'],
    ['1.5', '000', '1.5'],
  ] as const)('%s as a %s is %j', (raw, kind, text) => {
    expect(numberText(raw, kind, false)).toBe(text);
  });

  it('is the day that it counts, from March 1900 to the last day of spreadsheets', () => {
    fc.assert(
      fc.property(fc.integer({ min: 61, max: 2_958_465 }), (day) => {
        const [years, months, days] = numberText(String(day), 'date', false).split('-').map(Number);
        expect(Date.UTC(years!, months! - 1, days)).toBe(Date.UTC(1899, 11, 30 + day));
      }),
    );
  });

  it('is left as it is where it is none, whatever it is', () => {
    const kind = fc.constantFrom('number', 'date', 'time') as fc.Arbitrary<'number' | 'date' | 'time'>;
    const text = fc.string({ unit: 'binary' }).filter((raw) => !Number.isFinite(Number(raw)));
    fc.assert(fc.property(text, kind, (raw, of) => expect(numberText(raw, of, false)).toBe(raw)));
  });

  it('is a date four years later in the date system of 1904', () => {
    expect(numberText('44885', 'date', true)).toBe('2026-11-21');
  });
});

describe('a date that a workbook has as a text', () => {
  it.each([
    ['2026-11-21', '2026-11-21'],
    ['2026-11-21T00:00:00', '2026-11-21'],
    ['2026-11-21T10:30:00', '2026-11-21T10:30:00.000Z'],
    ['2026-11-21T10:30:00+02:00', '2026-11-21T08:30:00.000Z'],
    ['2026-02-30', '2026-02-30'],
    ['2026-02-30T10:30:00', '2026-02-30T10:30:00'],
    ['soon', 'soon'],
  ])('%s is %s, and never another day', (value, text) => {
    expect(isoDateText(value)).toBe(text);
  });
});

describe('the number format of a cell', () => {
  it.each([
    ['General', 'number'],
    ['0', 'number'],
    ['00000', '00000'],
    ['000;-000', '000'],
    ['0'.repeat(16), 'number'],
    ['0.00%', 'number'],
    ['#,##0.00 "Stück"', 'number'],
    ['[Red]-0.00', 'number'],
    ['0.00E+00', 'number'],
    ['dd.mm.yyyy', 'date'],
    ['[$-407]d. mmmm yyyy;@', 'date'],
    ['yyyy\\-mm\\-dd hh:mm', 'date'],
    ['mmm', 'date'],
    ['h:mm AM/PM', 'time'],
    ['[h]:mm:ss', 'time'],
    ['mm:ss.0', 'time'],
  ])('%s means a %s', (code, kind) => {
    expect(kindOfFormat(code)).toBe(kind);
  });
});

it('cell text unescapes characters that XML cannot contain', () => {
  expect(unescapeText('a_x000D_b_x005F_x0041_')).toBe('a\rb_x0041_');
});
