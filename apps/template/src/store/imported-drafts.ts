import type {
  BatchContext,
  StoredRow,
  UndoableRow,
  UndoneRows,
  WrittenRow,
} from '@plinth/exchange/definition';
import { byPlace, inIndexOrder, lockPlaces, lookUp } from '@plinth/exchange/look-up';
import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { newId } from '@plinth/kernel/uuid';
import type { PoolClient } from 'pg';
import { REVISIONS_KEPT } from '../domain/template';
import { publishImportedDrafts, type ImportedDraft } from '../events/published';

const CATEGORY = lookUp({
  table: 'template_category',
  columns: ['name'],
  values: ['wanted'],
  select: 't.name',
  lock: 'FOR KEY SHARE',
});

/** Those of the categories that exist; they cannot be deleted until the commit. */
export async function lockCategories(
  connection: PoolClient,
  tenantId: string,
  names: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (names.size === 0) return names;
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<{ name: string }>(
      `SELECT found.name FROM unnest($2::text[]) AS wanted CROSS JOIN ${CATEGORY} AS found`,
      [tenantId, [...names].sort()],
    ),
  );
  return new Set(rows.map(({ name }) => name));
}

const TEMPLATE = lookUp({
  table: 'template',
  columns: ['id'],
  values: ['imported.template_id'],
  select: 't.id, t.status, t.is_gone, t.draft_id, t.mime_type, t.content',
});
const NEWEST_REVISION = lookUp({
  table: 'template_revision',
  columns: ['template_id'],
  values: ['imported.template_id'],
  select: 't.number',
  lastBy: 'number',
});

/** So many of one template are removed at once, should more have been left. */
const REMOVED_MAX = 1_000;
const OLD_REVISIONS = `LATERAL (
  SELECT t.id, t.ctid FROM template_revision AS t
  WHERE t.tenant_id = $1::uuid AND ROW(t.template_id, t.number) >= ROW(imported.template_id, 0)
    AND ROW(t.template_id, t.number) <= ROW(imported.template_id, imported.last)
  ORDER BY t.template_id, t.number LIMIT ${REMOVED_MAX})`;

/** The rows are in the table of templates already; each becomes a new draft, as if it had been saved over HTTP. */
export async function saveImportedDrafts(
  rows: readonly WrittenRow[],
  { connection, tx, caller }: BatchContext,
): Promise<void> {
  const templateIds = rows.map(({ id }) => id);
  const { rows: former } = await inIndexOrder(connection, () =>
    connection.query<{ id: string; status: Status; is_gone: boolean; draft_id: string | null }>(
      `SELECT template.id, template.status, template.is_gone, template.draft_id
       FROM unnest($2::uuid[]) AS imported (template_id) CROSS JOIN ${TEMPLATE} AS template`,
      [caller.tenantId, templateIds],
    ),
  );
  await setStatus(connection, caller.tenantId, archived(former));
  const ids = rows.map(() => newId());
  const { rows: added } = await inIndexOrder(connection, () =>
    connection.query<{ template_id: string; number: number }>(
      `INSERT INTO template_revision
         (tenant_id, id, template_id, number, status, mime_type, content, content_length, created_at, created_by)
       SELECT $1, imported.id, template.id, 1 + COALESCE(newest.number, 0), 0, template.mime_type, template.content,
         length(template.content), now(), $4
       FROM unnest($2::uuid[], $3::uuid[]) AS imported (template_id, id)
       CROSS JOIN ${TEMPLATE} AS template LEFT JOIN ${NEWEST_REVISION} AS newest ON true
       RETURNING template_id, number`,
      [caller.tenantId, templateIds, ids, caller.userId],
    ),
  );
  const places = await lockPlaces(connection, caller.tenantId, 'template', templateIds);
  const { rows: saved } = await byPlace(connection, () =>
    connection.query<ImportedDraft & { id: string; published_id: string | null }>(
      `UPDATE template AS t SET status = 0, draft_id = n.id, submitted_by = NULL, is_gone = false
       FROM unnest($2::tid[], $3::uuid[]) AS n (place, id)
       WHERE t.ctid = n.place AND t.tenant_id = $1
       RETURNING t.id, t.name, t.culture, t.category_name, t.draft_id, t.published_id`,
      [caller.tenantId, templateIds.map((id) => places.get(id)), ids],
    ),
  );
  // The undo of this import needs the drafts that it replaces.
  const inUse = [...former, ...saved].map(({ draft_id }) => draft_id);
  await removeOldRevisions(connection, caller.tenantId, added, [
    ...inUse,
    ...saved.map(({ published_id }) => published_id),
  ]);
  // What is gone begins again as a draft, like one that never was: nothing is moved.
  const statusBefore = new Map(
    former.map(({ id, status, is_gone }) => [id, is_gone ? Status.Draft : status]),
  );
  await publishImportedDrafts(tx, caller, {
    deleted: [],
    saved,
    moved: saved.map((draft) => ({ draft, from: statusBefore.get(draft.id)!, to: Status.Draft })),
  });
}

/** The same that happens when a revision is saved over HTTP. */
async function removeOldRevisions(
  connection: PoolClient,
  tenantId: string,
  added: readonly { template_id: string; number: number }[],
  inUse: readonly (string | null)[],
): Promise<void> {
  const many = added.filter(({ number }) => number > REVISIONS_KEPT);
  if (many.length === 0) return;
  const { rows: old } = await inIndexOrder(connection, () =>
    connection.query<{ id: string; place: string }>(
      `SELECT old.id, old.ctid AS place
       FROM unnest($2::uuid[], $3::integer[]) AS imported (template_id, last) CROSS JOIN ${OLD_REVISIONS} AS old`,
      [tenantId, many.map((one) => one.template_id), many.map(({ number }) => number - REVISIONS_KEPT)],
    ),
  );
  const kept = new Set(inUse);
  const places = old.filter(({ id }) => !kept.has(id)).map(({ place }) => place);
  await byPlace(connection, () =>
    connection.query(
      'DELETE FROM template_revision AS r WHERE r.tenant_id = $1 AND r.ctid = ANY($2::tid[])',
      [tenantId, places],
    ),
  );
}

const FORMER_DRAFT = lookUp({
  table: 'template_revision',
  columns: ['id'],
  values: ['former.draft_id'],
  select: 't.id',
});

/**
 * Templates whose draft that an import replaced is removed, as so many revisions were added since, and those that an import
 * of an earlier version made of another one: whatever was published or approved since is theirs.
 */
export async function refusedUndos(
  rows: readonly UndoableRow[],
  { connection, caller }: BatchContext,
): Promise<ReadonlySet<string>> {
  const drafts = rows.flatMap(({ row, former }) =>
    former?.['draft_id'] ? [{ templateId: row['id'], id: former['draft_id'] }] : [],
  );
  const renamed = rows.filter(
    ({ row, former }) => former && (row['name'] !== former['name'] || row['culture'] !== former['culture']),
  );
  const { rows: lost } = await inIndexOrder(connection, () =>
    connection.query<{ id: string }>(
      `SELECT former.id FROM unnest($2::uuid[], $3::uuid[]) AS former (id, draft_id)
       LEFT JOIN ${FORMER_DRAFT} AS draft ON true WHERE draft.id IS NULL`,
      [caller.tenantId, drafts.map(({ templateId }) => templateId), drafts.map(({ id }) => id)],
    ),
  );
  return new Set([...lost.map(({ id }) => id), ...renamed.map(({ row }) => String(row['id']))]);
}

/** The drafts of these templates, as archived revisions. */
const archived = (templates: readonly { draft_id?: unknown }[]) =>
  templates.flatMap(({ draft_id: id }) => (id === null ? [] : [{ id: String(id), status: Status.Archived }]));

/** Gives revisions other states. */
async function setStatus(
  connection: PoolClient,
  tenantId: string,
  revisions: readonly { id: string; status: unknown }[],
): Promise<void> {
  const places = await lockPlaces(
    connection,
    tenantId,
    'template_revision',
    revisions.map(({ id }) => id),
  );
  await byPlace(connection, () =>
    connection.query(
      `UPDATE template_revision AS r SET status = n.status FROM unnest($2::tid[], $3::int[]) AS n (place, status)
       WHERE r.ctid = n.place AND r.tenant_id = $1`,
      [tenantId, revisions.map(({ id }) => places.get(id)), revisions.map(({ status }) => status)],
    ),
  );
}

/** Imported drafts become archived revisions; those that they had replaced are drafts again. */
export async function undoImportedDrafts(
  { removed, restored }: UndoneRows,
  { connection, tx, caller }: BatchContext,
): Promise<void> {
  const imported = [...removed, ...restored.map(({ undone }) => undone)];
  const draftsOf = (rows: readonly StoredRow[]) =>
    rows.flatMap(({ draft_id: id, status }) => (id === null ? [] : [{ id: String(id), status }]));
  const { tenantId } = caller;
  await setStatus(connection, tenantId, archived(imported));
  await setStatus(connection, tenantId, draftsOf(restored.map(({ row }) => row)));
  const withDraft = restored.filter(({ row }) => row['draft_id'] !== null);
  const withoutDraft = restored.filter(({ row }) => row['draft_id'] === null);
  await publishImportedDrafts(tx, caller, {
    deleted: [
      ...removed.map((row) => ({ draft: row as unknown as ImportedDraft, gone: true })),
      ...withoutDraft.map(({ undone, row }) => ({
        draft: undone as unknown as ImportedDraft,
        gone: row['is_gone'] === true,
      })),
    ],
    saved: withDraft.map(({ row }) => row as unknown as ImportedDraft),
    moved: restored
      .filter(({ row }) => row['is_gone'] !== true)
      .map(({ undone, row }) => ({
        draft: row as unknown as ImportedDraft,
        from: undone['status'] as Status,
        to: row['status'] as Status,
      })),
  });
}
