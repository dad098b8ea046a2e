import { escapeIdentifier } from 'pg';
import type { ExchangeDefinition } from '../definition';
import { systemSql } from '../import/write-statements';
import { lookUp } from '../look-up';

/** Of a key in the report of an undo: one message has those of all rows that a batch wrote. */
const KEY_LENGTH_MAX = 1_000;
/** So many later imports that were undone are seen through, of one row; beyond them it counts as changed. */
const UNDOS_MAX = 1_000;

export type UndoStatements = ReturnType<typeof undoStatements>;

/**
 * The statements that undo what a job wrote into the table of a definition.
 * Rows are looked up by their ids, and from their lock on they are found by their place: without statistics of the
 * tenant or the job, Postgres would search all of their rows (ADR 0018).
 */
export function undoStatements(definition: ExchangeDefinition, columns: readonly string[], callerId: string) {
  const table = escapeIdentifier(definition.table);
  const systemUpdates = Object.entries(definition.onUpdate ?? {});
  const isRestored = (column: string) =>
    !['tenant_id', 'id', ...systemUpdates.map(([name]) => name)].includes(column);
  const restored = columns.filter(isRestored).map((column) => escapeIdentifier(column));
  const changed = systemUpdates.map(
    ([column, value]) => `${escapeIdentifier(column)} = ${systemSql(value, column, callerId)}`,
  );
  // A column that was added later keeps its value.
  const formerValues = `(${restored.join(', ')}) = (
    SELECT ${restored.map((column) => `was.${column}`).join(', ')}
    FROM exchange_former AS f, jsonb_populate_record(t, f.former) AS was
    WHERE f.tenant_id = $1 AND f.row_id = t.id AND f.job_id = $2)`;
  const keyOf = (row: string): string => {
    const cells = definition.key.map(
      (property) => `NULLIF(${row}.${escapeIdentifier(definition.fields[property]!.column)}::text, '')`,
    );
    return `left(concat_ws(', ', ${cells.join(', ')}), ${KEY_LENGTH_MAX})`;
  };
  const byId = (id: string, select: string, lock?: 'FOR UPDATE') =>
    lookUp({ table: definition.table, columns: ['id'], values: [id], select, ...(lock ? { lock } : {}) });
  const removal = definition.retire
    ? `UPDATE ${table} AS t SET ${[definition.retire, ...changed].join(', ')}`
    : `DELETE FROM ${table} AS t`;
  return {
    lock: `SELECT FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${byId('wanted', 't.id', 'FOR UPDATE')} AS found`,

    read: `SELECT to_jsonb(found.row) AS row, f.former FROM unnest($3::uuid[]) AS wanted
      CROSS JOIN ${byId('wanted', 't AS row')} AS found
      LEFT JOIN ${formerOf('wanted', 't.former')} AS f ON true`,

    // What is stored now and what it is restored to: the one may be much larger than the other.
    measure: `SELECT wanted AS id, COALESCE(pg_column_size(found.row), 0) + COALESCE(octet_length(f.former::text), 0) AS bytes
      FROM unnest($3::uuid[]) AS wanted
      LEFT JOIN ${byId('wanted', 't AS row')} AS found ON true
      LEFT JOIN ${formerOf('wanted', 't.former')} AS f ON true`,

    // The last writer of a row is its `xmin`; where that restored it after an undo, the writer before it counts.
    compare: `
      SELECT found.id, found.place, to_jsonb(found.row) AS row, EXISTS (
        WITH RECURSIVE writer (transaction, step) AS (
          SELECT found.writer, 0
          UNION
          SELECT f.former_transaction, writer.step + 1 FROM writer CROSS JOIN
            ${restoredBy('found.id', 'writer.transaction')} AS f
          WHERE writer.step < ${UNDOS_MAX}
        )
        SELECT FROM writer WHERE transaction = ANY($3::text[])
      ) AS "isUnchanged"
      FROM unnest($2::uuid[]) AS wanted CROSS JOIN
        ${byId('wanted', 't.id, t.ctid AS place, t.xmin::text AS writer, t AS row')} AS found`,

    remove: `${removal} WHERE tenant_id = $1 AND import_job_id = $2 AND t.ctid = ANY($3::tid[]) RETURNING id`,

    restore: `
      UPDATE ${table} AS t SET ${[formerValues, ...changed].join(', ')}
      WHERE t.tenant_id = $1 AND t.ctid = ANY($3::tid[])
      RETURNING t.id, t.xmin::text AS transaction, to_jsonb(t) AS row`,

    recordRestored: `
      INSERT INTO exchange_former AS f (tenant_id, row_id, job_id, import_row, former, former_transaction)
      SELECT found.* FROM unnest($3::uuid[]) AS wanted CROSS JOIN
        ${formerOf('wanted', 't.tenant_id, t.row_id, t.job_id, t.import_row, t.former, t.former_transaction')} AS found
      ON CONFLICT (tenant_id, row_id, job_id) DO UPDATE SET restored_by_transaction = $4`,

    describe: `
      SELECT kept.id, CASE WHEN found.row IS NULL THEN ${keyOf('was')} ELSE ${keyOf('(found.row)')} END AS key,
        COALESCE(CASE WHEN (found.row).import_job_id = $2 THEN (found.row).import_row END, f.import_row, (
          SELECT (later.former->>'import_row')::int FROM exchange_former AS later
          WHERE later.tenant_id = $1 AND later.row_id = kept.id AND later.former->>'import_job_id' = $2::text
          LIMIT 1)) AS "rowNumber"
      FROM unnest($3::uuid[]) AS kept (id)
      LEFT JOIN ${byId('kept.id', 't AS row')} AS found ON true
      LEFT JOIN ${formerOf('kept.id', 't.import_row, t.former')} AS f ON true
      LEFT JOIN LATERAL jsonb_populate_record(NULL::${table}, f.former) AS was ON true
      ORDER BY "rowNumber"`,
  };
}

/** Looks for who had written a row before a transaction restored it; as `lookUp`, by an index of such rows only. */
const restoredBy = (rowId: string, transaction: string): string => `LATERAL (
    SELECT t.former_transaction FROM exchange_former AS t
    WHERE t.tenant_id = $1::uuid AND t.restored_by_transaction IS NOT NULL
      AND ROW(t.row_id, t.restored_by_transaction) >= ROW(${rowId}, ${transaction})
      AND ROW(t.row_id, t.restored_by_transaction) <= ROW(${rowId}, ${transaction})
    ORDER BY t.row_id, t.restored_by_transaction)`;

/** Looks for a row as it was before the job `$2`. */
const formerOf = (rowId: string, select: string): string =>
  lookUp({ table: 'exchange_former', columns: ['row_id', 'job_id'], values: [rowId, '$2::uuid'], select });
