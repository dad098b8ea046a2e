import type { ImportReport, ImportRowError } from '../api/data-exchange';
import type { TableRow } from './row-table';

export type ErrorGroup = NonNullable<ImportReport['errorGroups']>[number];

/** What tells a group from others. */
export const groupId = ({ column, code }: ErrorGroup): string => JSON.stringify([column, code]);

/**
 * Groups of which each is another error, the most frequent first. A row has the kind of its first error, so that the report
 * may count an error in groups of several kinds: it has that of most of them.
 */
export function joinGroups(groups: readonly ErrorGroup[]): ErrorGroup[] {
  const joined = new Map<string, ErrorGroup>();
  for (const group of groups.toSorted((left, right) => right.count - left.count)) {
    const id = groupId(group);
    const others = joined.get(id);
    joined.set(id, others ? { ...others, count: others.count + group.count } : group);
  }
  return [...joined.values()].sort((left, right) => right.count - left.count);
}

type ErrorDetail = ImportRowError['details'][number];

const isOfGroup =
  (group: ErrorGroup) =>
  ({ column, code }: ErrorDetail): boolean =>
    column === group.column && code === group.code;

export const isInGroup = ({ details }: ImportRowError, group: ErrorGroup): boolean =>
  details.some(isOfGroup(group));

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
