import { escapeIdentifier } from 'pg';
import type { ExchangeDefinition } from '../definition';
import { systemSql } from '../import/write-statements';

export type UndoStatements = ReturnType<typeof undoStatements>;

/**
 * The statements that undo what a job wrote into the table of a definition.
 * Those that change rows find them by their ids and join nothing: without statistics of the tenant or the job, Postgres
 * would search all of their rows for each row of a batch (ADR 0018).
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
    return `concat_ws(', ', ${cells.join(', ')})`;
  };
  const removal = definition.retire
    ? `UPDATE ${table} AS t SET ${[definition.retire, ...changed].join(', ')}`
    : `DELETE FROM ${table} AS t`;
  return {
    lock: `SELECT FROM ${table} WHERE tenant_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR UPDATE`,

    read: `SELECT to_jsonb(t) AS row FROM ${table} AS t WHERE tenant_id = $1 AND id = ANY($2::uuid[])`,

    // The last writer of a row is its `xmin`; where that restored it after an undo, the writer before it counts.
    compare: `
      SELECT t.id, to_jsonb(t) AS row, EXISTS (
        WITH RECURSIVE writer (transaction) AS (
          SELECT t.xmin::text
          UNION
          SELECT f.former_transaction FROM writer JOIN exchange_former AS f
            ON f.tenant_id = $1 AND f.row_id = t.id AND f.restored_by_transaction = writer.transaction
        )
        SELECT FROM writer WHERE transaction = ANY($3::text[])
      ) AS "isUnchanged"
      FROM ${table} AS t WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[])`,

    remove: `${removal} WHERE tenant_id = $1 AND import_job_id = $2 AND id = ANY($3::uuid[]) RETURNING id`,

    restore: `
      WITH restored AS (
        UPDATE ${table} AS t SET ${[formerValues, ...changed].join(', ')}
        WHERE t.tenant_id = $1 AND t.id = ANY($3::uuid[])
        RETURNING t.id, t.xmin::text AS transaction, to_jsonb(t) AS row
      ), recorded AS (
        UPDATE exchange_former SET restored_by_transaction = (SELECT transaction FROM restored LIMIT 1)
        WHERE tenant_id = $1 AND job_id = $2 AND row_id = ANY($3::uuid[])
      )
      SELECT id, row FROM restored`,

    describe: `
      SELECT kept.id, CASE WHEN t.id IS NULL THEN ${keyOf('was')} ELSE ${keyOf('t')} END AS key,
        COALESCE(CASE WHEN t.import_job_id = $2 THEN t.import_row END, f.import_row, (
          SELECT (later.former->>'import_row')::int FROM exchange_former AS later
          WHERE later.tenant_id = $1 AND later.row_id = kept.id AND later.former->>'import_job_id' = $2::text
          LIMIT 1)) AS "rowNumber"
      FROM unnest($3::uuid[]) AS kept (id)
      LEFT JOIN ${table} AS t ON t.tenant_id = $1 AND t.id = kept.id
      LEFT JOIN exchange_former AS f
        ON f.tenant_id = $1 AND f.job_id = $2 AND f.row_id = kept.id AND f.row_id = ANY($3::uuid[])
      LEFT JOIN LATERAL jsonb_populate_record(NULL::${table}, f.former) AS was ON true
      ORDER BY "rowNumber"`,
  };
}
