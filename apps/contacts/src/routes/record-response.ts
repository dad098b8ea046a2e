import type { CursorKey } from '@plinth/http/cursor';
import type { ListRequest } from '@plinth/http/paging';
import type { RecordRow } from '../store/record-store';

/** Where a row stands in the order of a list. */
export const cursorKeyOf =
  ({ sort }: Pick<ListRequest, 'sort'>) =>
  (row: RecordRow): CursorKey => [
    ...sort.map(({ field }) => {
      const value = row[field as keyof RecordRow];
      return value instanceof Date ? value.toISOString() : value;
    }),
    row.id,
  ];

/** A day as it is sent: `1815-12-10`. */
export const toDay = (date: Date | null): string | null => date?.toISOString().slice(0, 10) ?? null;
