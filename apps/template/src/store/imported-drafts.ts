import type { BatchContext, ImportRow, UndoneRows } from '@plinth/exchange/definition';
import { newId } from '@plinth/kernel/uuid';
import { rawStatements } from '@plinth/runtime/postgres/raw-statements';
import type { PoolClient } from 'pg';
import { publishImportedDrafts, type ImportedDraft } from '../events/published';

/** Those of the categories that exist; they cannot be deleted until the commit. */
export async function lockCategories(
  connection: PoolClient,
  tenantId: string,
  names: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (names.size === 0) return names;
  const { rows } = await connection.query<{ name: string }>(
    'SELECT name FROM template_category WHERE tenant_id = $1 AND name = ANY($2) FOR KEY SHARE',
    [tenantId, [...names]],
  );
  return new Set(rows.map(({ name }) => name));
}

/** The rows are in the table of templates already; each becomes a new draft, as if it had been saved over HTTP. */
export async function saveImportedDrafts(
  rows: readonly ImportRow[],
  { connection, caller, jobId }: BatchContext,
): Promise<void> {
  const numbers = rows.map(({ rowNumber }) => rowNumber);
  await connection.query(
    `UPDATE template_revision SET status = 3 WHERE tenant_id = $1 AND status IN (0, 1)
       AND template_id IN (SELECT id FROM template WHERE tenant_id = $1 AND import_job_id = $2 AND import_row = ANY($3))`,
    [caller.tenantId, jobId, numbers],
  );
  const ids = numbers.map(() => newId());
  await connection.query(
    `INSERT INTO template_revision
       (tenant_id, id, template_id, number, status, mime_type, content, content_length, created_at, created_by)
     SELECT t.tenant_id, n.id, t.id,
       1 + COALESCE((SELECT max(r.number) FROM template_revision r WHERE r.tenant_id = t.tenant_id AND r.template_id = t.id), 0),
       0, t.mime_type, t.content, length(t.content), now(), $5
     FROM template t JOIN unnest($3::int[], $4::uuid[]) AS n(row, id) ON n.row = t.import_row
     WHERE t.tenant_id = $1 AND t.import_job_id = $2`,
    [caller.tenantId, jobId, numbers, ids, caller.userId],
  );
  const { rows: saved } = await connection.query<ImportedDraft>(
    `UPDATE template SET status = 0, draft_id = n.id, submitted_by = NULL, is_gone = false
     FROM unnest($3::int[], $4::uuid[]) AS n(row, id)
     WHERE n.row = template.import_row AND tenant_id = $1 AND import_job_id = $2
     RETURNING name, culture, category_name, draft_id`,
    [caller.tenantId, jobId, numbers, ids],
  );
  await publishImportedDrafts(rawStatements(connection), caller, { deleted: [], saved });
}

/** Imported drafts become archived revisions; those that they had replaced are drafts again. */
export async function undoImportedDrafts(
  { removed, restored }: UndoneRows,
  { connection, caller }: BatchContext,
): Promise<void> {
  const imported = [...removed, ...restored.map(({ undone }) => undone)];
  await connection.query(
    'UPDATE template_revision SET status = 3 WHERE tenant_id = $1 AND id = ANY($2::uuid[])',
    [caller.tenantId, imported.map((row) => row['draft_id'])],
  );
  await connection.query(
    `UPDATE template_revision AS r SET status = t.status FROM template AS t
     WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[]) AND r.tenant_id = $1 AND r.id = t.draft_id`,
    [caller.tenantId, restored.map(({ row }) => row['id'])],
  );
  const withDraft = restored.filter(({ row }) => row['draft_id'] !== null);
  const withoutDraft = restored.filter(({ row }) => row['draft_id'] === null);
  await publishImportedDrafts(rawStatements(connection), caller, {
    deleted: [
      ...removed.map((row) => ({ draft: row as unknown as ImportedDraft, gone: true })),
      ...withoutDraft.map(({ undone, row }) => ({
        draft: undone as unknown as ImportedDraft,
        gone: row['is_gone'] === true,
      })),
    ],
    saved: withDraft.map(({ row }) => row as unknown as ImportedDraft),
  });
}
