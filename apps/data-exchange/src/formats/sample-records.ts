import { CsvReader, type CsvOptions, type FileRecord } from './csv-reader';
import { UnreadableFile } from './unreadable-file';

/** Whole records of the head of a file, without one that its end truncates and without unreadable ones. */
export function* sampleRecords(
  head: string,
  options: CsvOptions,
  isWhole = false,
): Generator<void, FileRecord[]> {
  const reader = new CsvReader(options);
  try {
    const records = yield* reader.pushInSteps(head);
    const last = isWhole || records.length <= 1 ? yield* reader.endInSteps() : [];
    return [...records, ...last].filter(({ error }) => !error);
  } catch (error) {
    // By quotes or a delimiter that are only tried, quotes may never be closed.
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}

const FIRST_PIECE_LENGTH = 4 * 1024;

/**
 * The first record of a text; where the text is cut, none that its end completes. Most are in the first piece that is read; each
 * further one is longer than all before it, since a record is read from its begin again.
 */
export function firstRecord(text: string, options: CsvOptions, isWhole = false): FileRecord | undefined {
  const reader = new CsvReader(options);
  for (let [at, length] = [0, FIRST_PIECE_LENGTH]; at < text.length; at += length, length = at) {
    const [record] = reader.push(text.slice(at, at + length));
    if (record) return record;
  }
  return isWhole ? reader.endFirst() : undefined;
}

/** How many cells most records have, which are added one after the other. */
export class UsualWidth {
  private readonly counts = new Map<number, number>();
  private records = 0;
  private width = 0;
  private count = 0;

  add({ cells }: { cells: readonly string[] }): void {
    const count = (this.counts.get(cells.length) ?? 0) + 1;
    this.counts.set(cells.length, count);
    this.records++;
    if (count <= this.count) return;
    this.count = count;
    this.width = cells.length;
  }

  /** How many cells more than half of the records have; else the other number. */
  orElse(other: number): number {
    return this.count >= 3 && this.count * 2 > this.records ? this.width : other;
  }
}

/** How many cells more than half of the records have; else as many as the first has. */
export function usualWidth(records: readonly { cells: readonly string[] }[]): number {
  const width = new UsualWidth();
  for (const record of records) width.add(record);
  return width.orElse(records[0]?.cells.length ?? 0);
}

/** How alike records are: those with as many cells as most have, and their share. One column is no table. */
export interface Regularity {
  count: number;
  share: number;
}

/** How alike the records of a sample are. */
export function regularityOf(records: readonly { cells: string[] }[]): Regularity {
  const { width, count } = commonWidth(records);
  return width < 2 ? { count: 0, share: 0 } : { count, share: count / records.length };
}

/** Whether one way to read a sample makes records that are more alike, and no fewer of them. */
export const isMoreRegular = (one: Regularity, other: Regularity): boolean =>
  isAsRegular(one, other) && (one.count > other.count || one.share > other.share);

/** Whether one way to read a sample is as good as another. */
export const isAsRegular = (one: Regularity, other: Regularity): boolean =>
  one.count >= other.count && one.share >= other.share;

function commonWidth(records: readonly { cells: string[] }[]): { width: number; count: number } {
  const counts = new Map<number, number>();
  for (const { cells } of records) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [width, count] = [...counts].sort(([, left], [, right]) => right - left)[0] ?? [0, 0];
  return { width, count };
}
