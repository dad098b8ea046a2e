import type { ImportReport, ImportRowError } from '../api/data-exchange';
import type { TableRow } from './row-table';

/** Rows that have the same thing wrong with them. */
export interface ErrorGroup {
  id: string;
  kind: ImportRowError['kind'];
  column: string | null;
  code: string;
  /** What the platform says about the first of them. */
  example: string;
  count: number;
}

/** What went wrong, the most frequent first. A row with two errors is in two groups. */
export function groupErrors(errors: readonly ImportRowError[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const { kind, details } of errors) {
    for (const { column, code, message } of details) {
      const id = JSON.stringify([kind, column, code]);
      const group = groups.get(id) ?? { id, kind, column, code, example: message, count: 0 };
      groups.set(id, { ...group, count: group.count + 1 });
    }
  }
  return [...groups.values()].sort((left, right) => right.count - left.count);
}

export const isInGroup = ({ kind, details }: ImportRowError, group: ErrorGroup): boolean =>
  kind === group.kind && details.some(({ column, code }) => column === group.column && code === group.code);

/** The rows of errors as a table shows them; those without cells are left out. */
export function rowsOf({ headers = [] }: ImportReport, errors: readonly ImportRowError[]): TableRow[] {
  return errors.flatMap(({ rowNumber, cells, details }) => {
    if (!cells) return [];
    const messages = new Map<number, string>();
    const rowErrors: string[] = [];
    for (const { column, message } of details) {
      const index = column === null ? -1 : headers.indexOf(column);
      if (index < 0) rowErrors.push(message);
      else messages.set(index, [messages.get(index), message].filter(Boolean).join(' '));
    }
    return [{ number: rowNumber, cells, errors: messages, rowErrors }];
  });
}
