import { REPORT_ERROR_GROUPS_MAX } from '@plinth/contracts/data-exchange/shapes';
import type { FailedRow, RowErrorDetail } from '@plinth/exchange/row-error';
import type { Localizer } from './failed-row';

/** Errors of the same kind and code in the same column. */
export interface ErrorGroup {
  kind: FailedRow['kind'];
  /** The first of them. */
  example: RowErrorDetail;
  count: number;
}

export interface ErrorGroups {
  /** The most frequent first. */
  groups: ErrorGroup[];
  /** How many failed rows they count. */
  rows: number;
}

/** As many as columns have codes, but for an owner that makes a code for each value. */
const COUNTED_GROUPS_MAX = 5_000;

/** Counts errors while rows are read. Errors of further groups are not counted. */
export class ErrorCounter {
  private readonly groups = new Map<string, ErrorGroup>();
  private rows = 0;

  add({ kind, details }: FailedRow): void {
    this.rows++;
    for (const example of details) {
      const id = JSON.stringify([kind, example.column, example.code]);
      const group = this.groups.get(id);
      if (group) group.count++;
      else if (this.groups.size < COUNTED_GROUPS_MAX) this.groups.set(id, { kind, example, count: 1 });
    }
  }

  result(): ErrorGroups {
    const groups = [...this.groups.values()].sort((left, right) => right.count - left.count);
    return { groups: groups.slice(0, REPORT_ERROR_GROUPS_MAX), rows: this.rows };
  }
}

/** The same groups with messages of a culture. */
export const localizeGroups = ({ groups, rows }: ErrorGroups, localizer: Localizer): ErrorGroups => ({
  groups: groups.map((group) => ({ ...group, example: localizer.detail(group.example) })),
  rows,
});
