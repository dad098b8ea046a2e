import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { formatMessage, messagePlaceholders } from './message';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const memoryUsed = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

interface WithHourCycles {
  getHourCycles(): string[];
}

const rows = '{count, plural, =0 {no rows} one {# row} other {# rows}}';
const lignes = '{count, plural, =0 {aucune ligne} one {# ligne} other {# lignes}}';

describe('formatMessage', () => {
  it.each([
    ['en', rows, { count: 1 }, '1 row'],
    ['en-GB', rows, { count: 1234 }, '1,234 rows'],
    ['fr', lignes, { count: 1 }, '1 ligne'],
    ['fr', lignes, { count: 1.5 }, '1,5 ligne'],
    ['fr', lignes, { count: 0 }, 'aucune ligne'],
    ['fr-CA', lignes, { count: 12_345 }, '12\u00a0345 lignes'],
    ['en', '{who, select, she {her} other {their}} file', { who: 'she' }, 'her file'],
    ['en', '{n, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}', { n: 22 }, '22nd'],
    ['fr', '{total, number, ::currency/EUR}', { total: 1234.5 }, '1\u202f234,50\u00a0€'],
    ['en', '{due, date, short}', { due: '2026-03-09' }, '3/9/26'],
    ['en-GB', '{due, date, long}', { due: new Date('2026-03-09T12:00:00Z') }, '9 March 2026'],
    ['fr', '{due, date, ::d MMMM}', { due: '2026-03-09' }, '9 mars'],
    ['fr-CA', '{at, time, short}', { at: '2026-03-09T17:05:00Z' }, '17 h 05'],
  ])('formats for %s %s', (culture, text, values, expected) => {
    expect(formatMessage(text, values, { culture })).toBe(expected);
  });

  it('shows times in the time zone, and days as the days they are', () => {
    const options = { culture: 'en-GB', timeZone: 'America/New_York' };

    expect(formatMessage('{at, time, short}', { at: '2026-03-09T17:05:00Z' }, options)).toBe('13:05');
    expect(formatMessage('{due, date, long}', { due: '2026-03-09' }, options)).toBe('9 March 2026');
  });

  it.each([
    ["L'{0} n'est pas là", ['article'], "L'article n'est pas là"],
    ['{0} of {1}', ['a'], 'a of {1}'],
    ['{name} <b>{0}</b>', ['x'], '{name} <b>x</b>'],
    ['{0:N2} {0} {', ['1'], '{0:N2} 1 {'],
    ['{0}', ['{1}', 'b'], '{1}'],
    [rows, [], rows],
    ['{n, plural, one {#}}', [1], '{n, plural, one {#}}'],
  ])('writes values into %s and leaves the rest', (text, values, expected) => {
    expect(formatMessage(text, values, { culture: 'en' })).toBe(expected);
  });

  it('takes no more formats of one message than a text for people has', () => {
    const formats = ['y', 'yy', 'yE', 'yyE'].flatMap((year) =>
      ['M', 'MM', 'MMM', 'MMMM'].flatMap((month) => [`${year}${month}d`, `${year}${month}dd`]),
    );
    const dates = (count: number) =>
      formats
        .slice(0, count)
        .map((format) => `{0, date, ::${format}}`)
        .join(' ');

    expect(formatMessage(dates(3), ['2026-03-09'], { culture: 'en' })).not.toContain('{0');
    expect(formatMessage(dates(32), ['2026-03-09'], { culture: 'en' })).toBe(dates(32));
  });

  it('keeps little of many long texts', () => {
    const before = memoryUsed();
    for (let number = 0; number < 400; number++)
      messagePlaceholders(Array.from({ length: 500 }, (_, index) => `{a${number * 500 + index}}`).join(''));
    expect(memoryUsed() - before).toBeLessThan(40_000_000);
  });

  it('makes a format once for all texts that have it, since each takes memory that no limit of a heap counts', () => {
    const made = jest.spyOn(Intl, 'DateTimeFormat');
    for (let number = 0; number < 100; number++)
      formatMessage(`${number} {0, date, ::yMMMMEEEEd} {0, time, ::Hms}`, ['2026-03-09T17:05:00Z'], {
        culture: 'fi',
      });
    expect(made.mock.calls.length).toBe(2);
    made.mockRestore();
  });

  it('formats any text without an error', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      'a',
      ',',
      ' ',
      'plural',
      'other',
      'date',
      'number',
      '0',
      '#',
      "'",
      ':',
      '<b>',
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.oneof(fc.string(), fc.double())), (pieces, values) => {
        expect(typeof formatMessage(pieces.join(''), values, { culture: 'fr' })).toBe('string');
      }),
    );
  });
});

describe('messagePlaceholders', () => {
  it('are what the formatter fills', () => {
    expect(messagePlaceholders('{a, plural, other {{b, select, other {{c}}}}} {0}')).toEqual(
      new Set(['a', 'b', 'c', '0']),
    );
    expect(messagePlaceholders('{0:N2}')).toBeUndefined();
  });

  it('asks a culture once how it counts hours, however many of them a text has', () => {
    const asked = jest.spyOn(Intl.Locale.prototype as unknown as WithHourCycles, 'getHourCycles');
    expect(messagePlaceholders(`{0, date, ::${'jm'.repeat(1_990)}}`)).toEqual(new Set(['0']));
    expect(asked).toHaveBeenCalledTimes(1);
    asked.mockRestore();
  });
});
