import { beginOfDay, dayAfter, dayOf } from './day';

describe('a day', () => {
  it.each([
    ['2026-11-26', 'Europe/Paris', '2026-11-25T23:00:00.000Z'],
    ['2026-07-01', 'Europe/Paris', '2026-06-30T22:00:00.000Z'],
    ['2026-11-26', 'Pacific/Auckland', '2026-11-25T11:00:00.000Z'],
    ['2026-11-26', 'Asia/Kolkata', '2026-11-25T18:30:00.000Z'],
    ['2026-11-26', 'America/Los_Angeles', '2026-11-26T08:00:00.000Z'],
    // The days on which the clocks change.
    ['2026-03-29', 'Europe/Paris', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Paris', '2026-03-29T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Paris', '2026-10-25T23:00:00.000Z'],
    // It has no midnight: the clocks went from there to one.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
  ])('%s begins in %s at %s', (day, timeZone, instant) => {
    const begin = beginOfDay(day, timeZone);
    expect(begin.toISOString()).toBe(instant);
    expect(dayOf(begin, timeZone)).toBe(day);
    expect(dayAfter(dayOf(new Date(begin.getTime() - 1), timeZone))).toBe(day);
  });
});
