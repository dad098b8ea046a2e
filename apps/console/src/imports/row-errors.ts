import type { ImportReport, ImportRowError } from '../api/data-exchange';
import type { TableRow } from './row-table';

export type ErrorGroup = NonNullable<ImportReport['errorGroups']>[number];

/** What tells a group from others. */
export const groupId = ({ kind, column, code }: ErrorGroup): string => JSON.stringify([kind, column, code]);

type ErrorDetail = ImportRowError['details'][number];

const isOfGroup =
  (group: ErrorGroup) =>
  ({ column, code }: ErrorDetail): boolean =>
    column === group.column && code === group.code;

export const isInGroup = ({ kind, details }: ImportRowError, group: ErrorGroup): boolean =>
  kind === group.kind && details.some(isOfGroup(group));

/** How many errors of a group the rows of it have that a table shows: a row may have one twice. */
export const errorsInGroup = (rows: readonly ImportRowError[], group: ErrorGroup): number =>
  rows.reduce((sum, { cells, details }) => sum + (cells ? details.filter(isOfGroup(group)).length : 0), 0);

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
