import fc from 'fast-check';
import { isCalendarDay, isStorableInstant, latestAfterDays } from './instant';

const two = (number: number): string => String(number).padStart(2, '0');

describe('the days of the calendar', () => {
  it('are those that the calendar has, whatever follows them', () => {
    const day = fc.record({
      year: fc.integer({ min: 1, max: 9999 }),
      month: fc.integer({ min: 1, max: 12 }),
      dayOfMonth: fc.integer({ min: 1, max: 31 }),
    });
    const rest = fc.constantFrom('', 'T10:00', 'T23:59:59.999Z', 'T00:00:00+14:00');
    fc.assert(
      fc.property(day, rest, ({ year, month, dayOfMonth }, time) => {
        const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
        const length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(dayOfMonth)}${time}`;
        expect(isCalendarDay(text)).toBe(dayOfMonth <= length);
      }),
    );
  });

  it('are none of a text that begins with something else', () => {
    for (const text of ['', 'today', '2026-13-01', '2026-00-10', '2026-01-00', '2026-1-1x'])
      expect([text, isCalendarDay(text)]).toEqual([text, false]);
  });
});

describe('an instant that can be stored', () => {
  it('is written with a year of four digits', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (instant) => {
        expect(isStorableInstant(instant)).toBe(/^(?!0000)\d{4}-/.test(instant.toISOString()));
      }),
    );
  });
});

describe('the latest instant after a number of days', () => {
  it.each([
    ['without another time', '2026-01-01T00:00:00+01:00', '2026-04-01T00:00:00+02:00'],
    ['where clocks are set back in autumn', '2026-10-01T00:00:00+02:00', '2026-12-30T00:00:00+01:00'],
    ['in the south', '2027-03-01T00:00:00+11:00', '2027-05-30T00:00:00+10:00'],
    ['where it is two hours', '2026-09-01T00:00:00+02:00', '2026-11-30T00:00:00+00:00'],
    ['over a leap day', '2028-02-01T00:00:00+01:00', '2028-05-01T00:00:00+02:00'],
  ])('is not before the same time of that day %s, and before the next one', (_, start, same) => {
    const latest = latestAfterDays(new Date(start), 90);

    expect(latest.getTime()).toBeGreaterThanOrEqual(Date.parse(same));
    expect(latest.getTime()).toBeLessThan(Date.parse(same) + 86_400_000);
  });
});
