import type { ImportReport, ImportRowError } from '../api/data-exchange';
import type { TableRow } from './row-table';

export type ErrorGroup = NonNullable<ImportReport['errorGroups']>[number];

/** What tells a group from others. */
export const groupId = ({ kind, column, code }: ErrorGroup): string => JSON.stringify([kind, column, code]);

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
