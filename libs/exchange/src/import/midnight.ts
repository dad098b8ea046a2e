import { SHORT_CELL_MAX } from './short-cell';

const MIDNIGHT = /^(\d[^T\s]*)[T\s]+(?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? ?AM)Z?$/i;

/** A day without the midnight that databases and spreadsheets write behind it; with any other time it is no day. */
export const withoutMidnight = (text: string): string =>
  text.length > 10 && text.length <= SHORT_CELL_MAX ? (MIDNIGHT.exec(text)?.[1] ?? text) : text;
