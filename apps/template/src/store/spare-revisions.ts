import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { byPlace, inIndexOrder, lookUp } from '@plinth/exchange/look-up';
import { NIL_ID } from '@plinth/kernel/uuid';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { inTransaction } from '@plinth/runtime/postgres/postgres';
import type { PoolClient } from 'pg';
import { REVISIONS_KEPT_WITHOUT_ROOM } from '../domain/template';

/** What was removed. */
export interface SpareRevisions {
  revisions: number;
  characters: number;
}

/** Templates that one statement looks through, templates that one transaction locks, and revisions that it removes. */
const LOOKED_THROUGH = 1_000;
const LOCKED_MAX = 200;
const REMOVED_MAX = 1_000;
/** Templates are locked without waiting; what still may be waited for is their revisions. */
const LOCK_MILLISECONDS = 5_000;

const TEMPLATE = {
  table: 'template',
  columns: ['id'],
  values: ['wanted'],
  select:
    't.id, t.ctid AS place, t.is_gone, t.requires_approval, t.draft_id, t.published_id, t.import_job_id',
};
const FORMER = lookUp({
  table: 'exchange_former',
  columns: ['row_id', 'job_id'],
  values: ['template.id', 'template.import_job_id'],
  select: "(t.former->>'draft_id')::uuid AS draft_id",
});
const NEWEST = lookUp({
  table: 'template_revision',
  columns: ['template_id'],
  values: ['template.id'],
  select: 't.number',
  lastBy: 'number',
});
/** Archived revisions behind the newest ones of a template; of one that is gone nothing reads them any more. */
const SPARE = `LATERAL (
  SELECT older.id, older.place FROM (
    SELECT t.id, t.ctid AS place, t.status FROM template_revision AS t
    WHERE t.tenant_id = $1::uuid AND ROW(t.template_id, t.number) >= ROW(template.id, 0)
      AND ROW(t.template_id, t.number) <= ROW(template.id, 2147483647)
    ORDER BY t.template_id DESC, t.number DESC
    OFFSET CASE WHEN NOT template.is_gone THEN ${REVISIONS_KEPT_WITHOUT_ROOM}
      WHEN template.requires_approval THEN 1 ELSE 0 END
  ) AS older
  WHERE older.status = ${Status.Archived} AND older.id IS DISTINCT FROM template.draft_id
    AND older.id IS DISTINCT FROM template.published_id)`;

/**
 * Removes revisions that nobody needs, until what was removed is enough: first those of templates that are gone, with
 * these templates, then what is older than the newest ones of the others and is neither draft nor published, nor what the
 * last import replaced, whose undo needs it. A template that is gone and required approval stays with its newest revision:
 * it must not be enough to delete a template and make it again. Templates that others are changing are passed over.
 */
export async function removeSpareRevisions(
  pool: FairPool,
  tenantId: string,
  isEnough: (removed: SpareRevisions) => boolean,
): Promise<void> {
  const all = { revisions: 0, characters: 0 };
  for (const isGone of [true, false])
    for (let after: string | undefined = NIL_ID; after !== undefined && !isEnough(all);) {
      const { removed, next } = await inTransaction(
        pool,
        ['plinth.tenant_id', tenantId],
        (connection) => removeNext(connection, tenantId, { isGone, after: after! }),
        { lockMilliseconds: LOCK_MILLISECONDS },
      );
      all.revisions += removed.revisions;
      all.characters += removed.characters;
      after = next;
    }
}

/** Returns behind which template the next ones come; undefined where there are none. */
async function removeNext(
  connection: PoolClient,
  tenantId: string,
  { isGone, after }: { isGone: boolean; after: string },
): Promise<{ removed: SpareRevisions; next: string | undefined }> {
  const query = <Row extends object>(text: string, ...values: unknown[]) =>
    inIndexOrder(connection, () => connection.query<Row>(text, [tenantId, ...values]));
  const { rows: page } = await query<{ id: string; is_gone: boolean }>(
    `SELECT t.id, t.is_gone FROM template AS t WHERE t.tenant_id = $1::uuid AND t.id > $2::uuid
     ORDER BY t.id LIMIT ${LOOKED_THROUGH}`,
    after,
  );
  const { rows: found } = await query<{ id: string }>(
    `SELECT template.id FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${lookUp(TEMPLATE)} AS template
     WHERE EXISTS (SELECT FROM ${SPARE} AS spare) LIMIT ${LOCKED_MAX}`,
    page.filter((one) => one.is_gone === isGone).map(({ id }) => id),
  );
  const behind = found.length < LOCKED_MAX ? page.at(-1)?.id : found.at(-1)!.id;
  if (found.length === 0) return { removed: { revisions: 0, characters: 0 }, next: behind };

  const { rows: locked } = await query<{ id: string }>(
    `SELECT template.id FROM unnest($2::uuid[]) AS wanted
     CROSS JOIN ${lookUp({ ...TEMPLATE, lock: 'FOR UPDATE SKIP LOCKED' })} AS template`,
    found.map(({ id }) => id),
  );
  const ids = locked.map(({ id }) => id);
  // Only now nothing of them changes any more.
  const { rows: spare } = await query<{ place: string }>(
    `SELECT spare.place FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${lookUp(TEMPLATE)} AS template
     LEFT JOIN ${FORMER} AS former ON true CROSS JOIN ${SPARE} AS spare
     WHERE template.is_gone OR spare.id IS DISTINCT FROM former.draft_id LIMIT ${REMOVED_MAX}`,
    ids,
  );
  const { rows: lengths } = await byPlace(connection, () =>
    connection.query<{ content_length: number }>(
      `DELETE FROM template_revision AS r WHERE r.tenant_id = $1 AND r.ctid = ANY($2::tid[]) RETURNING r.content_length`,
      [tenantId, spare.map(({ place }) => place)],
    ),
  );
  if (isGone) {
    const { rows: empty } = await query<{ place: string }>(
      `SELECT template.place FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${lookUp(TEMPLATE)} AS template
       LEFT JOIN ${NEWEST} AS newest ON true WHERE template.is_gone AND newest.number IS NULL`,
      ids,
    );
    await byPlace(connection, () =>
      connection.query('DELETE FROM template AS t WHERE t.tenant_id = $1 AND t.ctid = ANY($2::tid[])', [
        tenantId,
        empty.map(({ place }) => place),
      ]),
    );
  }
  const characters = lengths.reduce((sum, one) => sum + one.content_length, 0);
  const isRest = lengths.length === REMOVED_MAX;
  return { removed: { revisions: lengths.length, characters }, next: isRest ? after : behind };
}
