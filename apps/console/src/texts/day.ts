/** The instant at which a day such as `2026-11-26` begins in a time zone; without one, in that of the browser. */
export function beginOfDay(day: string, timeZone?: string): Date {
  const inGreenwich = Date.parse(`${day}T00:00:00Z`);
  const first = inGreenwich - offsetAt(inGreenwich, timeZone);
  // Where the clocks change between Greenwich's midnight and this one.
  const second = inGreenwich - offsetAt(first, timeZone);
  return new Date(dayOf(new Date(second), timeZone) === day ? second : first);
}

/** The day of an instant in a time zone; without one, in that of the browser. */
export const dayOf = (instant: Date, timeZone?: string): string => wallClock(instant, timeZone).slice(0, 10);

export const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/** How far the clocks are before those of Greenwich, in milliseconds. */
const offsetAt = (instant: number, timeZone?: string): number =>
  Date.parse(`${wallClock(new Date(instant), timeZone).replace(' ', 'T')}Z`) -
  Math.floor(instant / 1_000) * 1_000;

/** In Sweden people write dates as programs do. */
const wallClock = (instant: Date, timeZone?: string): string =>
  new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    ...(timeZone ? { timeZone } : {}),
  }).format(instant);
