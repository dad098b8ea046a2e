const MIDNIGHT = /^(\d\S*?)[T\s]+(?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? ?AM)Z?$/i;

/** A day without the midnight that databases and spreadsheets write behind it; with any other time it is no day. */
export const withoutMidnight = (text: string): string =>
  text.length > 10 ? (MIDNIGHT.exec(text)?.[1] ?? text) : text;
