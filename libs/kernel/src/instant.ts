const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether an instant is in the years that ISO 8601, JSON and the database all write with four digits. */
export const isStorableInstant = (instant: Date): boolean =>
  instant.getTime() >= FIRST && instant.getTime() <= LAST;

/** Whether the calendar has the day that a text in ISO 8601 begins with; `Date` reads 30 February as 2 March. */
export function isCalendarDay(text: string): boolean {
  const day = text.slice(0, 'yyyy-MM-dd'.length);
  return new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice('yyyy-MM-'.length));
}

const DAY_MILLISECONDS = 86_400_000;
/** Where clocks are set back most, as at the Troll station; elsewhere it is one hour or half of one. */
const SET_BACK_MILLISECONDS_MAX = 7_200_000;

/**
 * The latest instant at which it may be the same time of day anywhere, so many days after another one: where clocks were
 * set back in between, it is later than that many times 24 hours. What is limited to a number of days ends by then.
 */
export const latestAfterDays = (start: Date, days: number): Date =>
  new Date(start.getTime() + days * DAY_MILLISECONDS + SET_BACK_MILLISECONDS_MAX);
