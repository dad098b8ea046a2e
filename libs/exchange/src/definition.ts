import type { Permission } from '@plinth/contracts/permissions';
import type { Caller } from '@plinth/kernel/caller';
import type { FieldRule, ListRules } from '@plinth/kernel/list-query';
import type { BulkTransaction } from './bulk-transaction';
import type { ExchangeField, FieldValue } from './field';
import type { RowError } from './row-error';

/** The property path of a row's id: an export adds it, and an import finds rows by it. */
export const ID_PROPERTY = 'id';

/** A row whose cells could all be read. */
export interface ImportRow {
  rowNumber: number;
  /** By property path; fields without a column are absent. */
  values: Record<string, FieldValue>;
}

/** A row that was written, with the id that it has in the table. */
export interface WrittenRow extends ImportRow {
  id: string;
  /** By property path: the key that it had before, where its `Id` found it and the file gives it another one. */
  formerKey?: Readonly<Record<string, FieldValue>> | undefined;
}

/** What a hook of a definition may use: the transaction of the batch, and the caller it runs for. */
export interface BatchContext extends BulkTransaction {
  caller: Caller;
  jobId: string;
}

/** A row of the table as it is stored, by column. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** A row that an undo would remove, or give back what it was before the import updated it. */
export interface UndoableRow {
  row: StoredRow;
  /** Null where the import inserted it. */
  former: StoredRow | null;
}

/** Rows that were removed, as they were, and rows that were restored, before and after. */
export interface UndoneRows {
  removed: readonly StoredRow[];
  restored: readonly { undone: StoredRow; row: StoredRow }[];
}

/** The value of a column that is in no file. */
export type SystemValue = 'new-id' | 'caller-id' | 'now' | 'one' | 'next' | 'nothing';

/**
 * Data of one kind that can be exported and imported: a table, and which of its columns people see.
 * The table begins with `tenant_id` and has an `id uuid`. For imports it also has the columns `import_job_id uuid` and
 * `import_row integer`, which say which row of which file wrote a row last.
 *
 * Other headers by which files name a field are data beside the definition, in `<definition>.synonyms.json`:
 * `{ "<field>": { "aliases": [], "synonyms": [] } }`, spread into the options of the field.
 */
export interface ExchangeDefinition {
  /** `Module.Things` */
  name: string;
  entityType: string;
  /** Needed to see or change rows. */
  permission: Permission;
  importable: boolean;
  table: string;
  /** Columns of the file by property path, in their order. */
  fields: Record<string, ExchangeField>;
  /** Property paths that identify a row; together with the tenant they are unique in the table. */
  key: readonly string[];
  /**
   * Rows of a file that name a row of the table by its `Id` may give it another key. Without it they are refused: rights,
   * locks, history and what other services know are then those of one key for ever. With it `check` sees the new key only,
   * so that rights must not depend on keys, and `afterWrite` and `afterUndo` announce both.
   */
  keysMayChange?: boolean;
  /** In the syntax of the `sort` parameter. */
  defaultSort: string;
  searchable: readonly string[];
  /**
   * The result of an imported row does not depend on other rows of its file, except for its key: no other column must
   * be unique, `check` looks at single rows, and rows do not refer to each other. Ranges of a large file are then
   * imported concurrently (ADR 0016).
   */
  rowsAreIndependent?: boolean;
  onInsert?: Record<string, SystemValue>;
  onUpdate?: Record<string, SystemValue>;
  /** Restricts what a caller sees, as SQL over the table's columns. */
  visibleTo?(caller: Caller): string | undefined;
  /** Callers who hold it see rows that `visibleTo` hides from others; only callers who hold it may read what they export. */
  widerPermission?: Permission;
  /** That permission counts for callers of the host tenant only. */
  widerOnHostOnly?: boolean;
  /**
   * Rules beyond single cells. May change `values` to those that are stored. In a dry-run it sees only rows of the same
   * batch and those that are stored: each batch is undone before the next one.
   */
  check?(rows: readonly ImportRow[], context: BatchContext): Promise<RowError[]>;
  /**
   * Runs after rows were written and before the commit: for history and events. Not in a dry-run. Where all rows of a
   * batch seem to be new, it runs while the database still inserts them, and again where some of them were not; so it
   * leaves nothing behind but what its statements write.
   */
  afterWrite?(rows: readonly WrittenRow[], context: BatchContext): Promise<void>;
  /**
   * SQL over the columns of the table `t`: whether a row is kept of what was deleted. Imports take its key for one that no row
   * has, and its id for one that is not known; without it all rows are there.
   */
  isGone?: string;
  /** SQL assignments that retire an inserted row when its import is undone; without them the row is deleted. */
  retire?: string;
  /** Returns the ids of rows that the caller may not undo. A row and what it was may have different keys. */
  checkUndo?(rows: readonly UndoableRow[], context: BatchContext): Promise<ReadonlySet<string>>;
  /**
   * Runs after rows of an import were undone and before the commit: for history and events. A definition with
   * `afterWrite` cannot be undone without it.
   */
  afterUndo?(rows: UndoneRows, context: BatchContext): Promise<void>;
  /** Runs after the commit of a batch, in this process. */
  afterCommit?(context: { caller: Caller }): void;
}

/** Declares exchangeable data; a contradictory definition stops the process at its start. */
export function defineExchange(definition: ExchangeDefinition): ExchangeDefinition {
  const known = Object.keys(definition.fields);
  const referenced = [...definition.key, ...definition.searchable];
  const unknown = referenced.filter((property) => !known.includes(property));
  if (unknown.length > 0) throw new Error(`${definition.name} has no field ${unknown.join(', ')}.`);
  if (definition.importable && definition.key.length === 0) throw new Error(`${definition.name} has no key.`);
  const related = definition.key.find((property) => definition.fields[property]!.relation);
  if (related !== undefined)
    throw new Error(`${definition.name} cannot have the relation ${related} in its key.`);
  return definition;
}

/** Whether imports can be undone: an owner that publishes written rows must also publish that they were undone. */
export const isUndoable = ({ importable, afterWrite, afterUndo }: ExchangeDefinition): boolean =>
  importable && (afterWrite === undefined || afterUndo !== undefined);

/** What an export of this definition can filter, sort and search by. */
export function listRulesOf({ fields, defaultSort, searchable }: ExchangeDefinition): ListRules {
  const filterable: Record<string, FieldRule> = {};
  for (const [property, field] of Object.entries(fields)) {
    if (field.isSecret) continue;
    filterable[property] = { type: field.filterType, ...(field.values ? { values: field.values } : {}) };
  }
  return { filterable, sortable: Object.keys(filterable), defaultSort, searchable };
}

/** Whether a row `t` cannot be named by its id: it is gone, or the caller may not see it. As SQL. */
export const hasUnknownId = ({ isGone, visibleTo }: ExchangeDefinition, caller: Caller): string =>
  `(${isGone ?? 'false'}) OR (${visibleTo?.(caller) ?? 'true'}) IS NOT TRUE`;
