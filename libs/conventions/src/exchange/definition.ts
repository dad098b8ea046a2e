import type { Permission } from '@plinth/contracts/permissions';
import type { Caller } from '@plinth/kernel/caller';
import type { FieldRule, ListRules } from '@plinth/kernel/list-query';
import type { PoolClient } from 'pg';
import type { ExchangeField, FieldValue } from './field';
import type { RowText } from './row-texts';

/** A row whose cells could all be read. */
export interface ImportRow {
  rowNumber: number;
  /** By property path; fields without a column are absent. */
  values: Record<string, FieldValue>;
}

/** Why one cell, or the row as a whole, cannot be imported. */
export interface RowFault {
  rowNumber: number;
  kind: 'Conversion' | 'Validation' | 'Persistence' | 'Identity';
  /** The property path; null where the row as a whole is meant. */
  column: string | null;
  value: string | null;
  code: string;
  message: string;
  /** The message as a text that data exchange has in other cultures too. */
  text?: RowText;
}

/** What a hook of a definition may use: the batch's own transaction, and on whose behalf it runs. */
export interface BatchContext {
  connection: PoolClient;
  caller: Caller;
  jobId: string;
}

/** A row of the table as it is stored, by column. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** Rows that are gone, as they were, and rows that have their former values again, before and after. */
export interface UndoneRows {
  removed: readonly StoredRow[];
  restored: readonly { undone: StoredRow; row: StoredRow }[];
}

/** What a column that no file has is filled with. */
export type SystemValue = 'new-id' | 'caller-id' | 'now' | 'one' | 'next';

/**
 * Data of one kind that can be exported and imported: a table, and which of its columns people see.
 * The table begins with `tenant_id` and has an `id uuid`. For imports it also has the columns `import_job_id uuid` and
 * `import_row integer`, which say which row of which file wrote a row last.
 */
export interface ExchangeDefinition {
  /** `Module.Things` */
  name: string;
  entityType: string;
  /** Who sees or changes rows needs it. */
  permission: Permission;
  importable: boolean;
  table: string;
  /** Columns of the file by property path, in their order. */
  fields: Record<string, ExchangeField>;
  /** Property paths that identify a row; together with the tenant they are unique in the table. */
  key: readonly string[];
  /** In the syntax of the `sort` parameter. */
  defaultSort: string;
  searchable: readonly string[];
  /**
   * What becomes of an imported row does not depend on other rows of its file, but for its key: no other column must
   * be unique, `check` looks at single rows, and rows do not refer to each other. Large files are then imported by
   * several workers at once (ADR 0016).
   */
  rowsAreIndependent?: boolean;
  onInsert?: Record<string, SystemValue>;
  onUpdate?: Record<string, SystemValue>;
  /** Restricts what a caller sees, as SQL over the table's columns. */
  visibleTo?(caller: Caller): string | undefined;
  /** Whoever holds it sees rows that `visibleTo` hides from others. What they export is only for those who hold it too. */
  widerPermission?: Permission;
  /** That permission counts for callers of the host tenant only. */
  widerOnHostOnly?: boolean;
  /** Rules beyond single cells. May change `values` to what is to be stored. */
  check?(rows: readonly ImportRow[], context: BatchContext): Promise<RowFault[]>;
  /** Runs after rows were written and before the commit: for history and facts. Not in a dry-run. */
  afterWrite?(rows: readonly ImportRow[], context: BatchContext): Promise<void>;
  /** SQL assignments that take away an inserted row when its import is undone; a row is deleted unless given. */
  retire?: string;
  /** Answers the ids of rows that the caller may not undo. */
  checkUndo?(rows: readonly StoredRow[], context: BatchContext): Promise<ReadonlySet<string>>;
  /**
   * Runs after rows of an import were taken back and before the commit: for history and facts. A definition with
   * `afterWrite` cannot be undone without it.
   */
  afterUndo?(rows: UndoneRows, context: BatchContext): Promise<void>;
  /** Runs after the commit of a batch, in this process. */
  afterCommit?(context: { caller: Caller }): void;
}

/** Declares exchangeable data; what contradicts itself stops the process at its start. */
export function defineExchange(definition: ExchangeDefinition): ExchangeDefinition {
  const known = Object.keys(definition.fields);
  const mentioned = [...definition.key, ...definition.searchable];
  const unknown = mentioned.filter((property) => !known.includes(property));
  if (unknown.length > 0) throw new Error(`${definition.name} has no field ${unknown.join(', ')}.`);
  if (definition.importable && definition.key.length === 0) throw new Error(`${definition.name} has no key.`);
  const related = definition.key.find((property) => definition.fields[property]!.relation);
  if (related !== undefined)
    throw new Error(`${definition.name} cannot have the relation ${related} in its key.`);
  return definition;
}

/** Whether imports can be undone: whoever tells of written rows must also tell that they were taken back. */
export const isUndoable = ({ importable, afterWrite, afterUndo }: ExchangeDefinition): boolean =>
  importable && (afterWrite === undefined || afterUndo !== undefined);

/** What an export of this definition may be asked for. */
export function listRulesOf({ fields, defaultSort, searchable }: ExchangeDefinition): ListRules {
  const filterable: Record<string, FieldRule> = {};
  for (const [property, field] of Object.entries(fields)) {
    if (field.isSecret) continue;
    filterable[property] = { type: field.filterType, ...(field.values ? { values: field.values } : {}) };
  }
  return { filterable, sortable: Object.keys(filterable), defaultSort, searchable };
}
