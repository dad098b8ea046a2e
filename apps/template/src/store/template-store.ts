import { type TemplateLifecycleStatus } from '@plinth/contracts/template/shapes';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import { entityTag, requireMatch, type IfMatch } from '@plinth/kernel/entity-tag';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { readInTenant, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { send, sql } from '@plinth/runtime/postgres/raw-statements';
import { findOperation, recordOperation } from '@plinth/runtime/postgres/run-once';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { fallbackOf } from '../domain/culture';
import { revisionNotFound, templateNotFound, templateNotPublished } from '../domain/problems';
import { DEFAULT_MIME_TYPE, type Revision, type Step, type Template } from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import { publishStep } from '../events/published';
import type { Prisma, Template as TemplateRow, TemplateRevision as RevisionRow } from '../generated/client';

type Tx = Prisma.TransactionClient;

/** What lists show of a template. */
export type TemplateSummary = Omit<TemplateRow, 'content'>;

export interface ChangeOptions {
  ifMatch?: IfMatch;
  /** A repeated operation makes no second change; the operation of the caller by default. */
  operationId?: string | undefined;
  comment?: string | undefined;
  /** Without a template the change is `template-not-found`. */
  mustExist?: boolean;
}

export interface TemplateStore {
  find(tenantId: string, key: TemplateKey): Promise<Template | undefined>;
  /** @throws Problem `template-not-found` */
  get(tenantId: string, key: TemplateKey): Promise<Template>;
  /** The template of the nearest culture: `fr-CA`, `fr`, none. */
  findNearest(
    tenantId: string,
    name: string,
    culture: string | undefined,
    revisionChoice: RevisionChoice,
  ): Promise<RevisionWithKey | undefined>;
  /** @throws Problem `template-not-found`, or `template-not-published` where there are only drafts */
  getNearest(
    tenantId: string,
    name: string,
    culture: string | undefined,
    revisionChoice: RevisionChoice,
  ): Promise<RevisionWithKey>;
  /** The cultures that templates of this name have. */
  cultures(tenantId: string, name: string): Promise<string[]>;
  list(
    tenantId: string,
    only: { status: number | undefined; category: string | undefined; culture: string | undefined },
    list: ListRequest,
  ): Promise<{ rows: TemplateSummary[]; totalCount: number | null }>;
  /**
   * Loads a template, lets `decide` compute its change, and saves that, in one transaction. Changes of one template
   * wait for each other. `decide` receives undefined where there is no template.
   * @throws Problem `quota-exceeded` where the change adds a revision
   */
  change(
    caller: Caller,
    key: TemplateKey,
    decide: (current: Template | undefined) => Step,
    options?: ChangeOptions,
  ): Promise<{ template: Template; isNew: boolean; changedBy: string }>;
  history(
    tenantId: string,
    key: TemplateKey,
    page: number,
    pageSize: number,
  ): Promise<{ rows: Omit<RevisionRow, 'content'>[]; totalCount: number }>;
  /** A revision of any culture of this name. @throws Problem `template-not-found`, `revision-not-found` */
  getRevision(tenantId: string, name: string, id: string): Promise<{ revision: Revision; key: TemplateKey }>;
}

/** Which revision of a template to use: the draft where there is one, or the published one only. */
export type RevisionChoice = 'newest' | 'published';

export interface RevisionWithKey {
  key: TemplateKey;
  revision: Revision;
}

/** The strong entity tag of a template. */
export const tagOf = ({ version }: Template): string => entityTag(version);

export function templateStore(
  db: TenantDatabase<Tx>,
  pool: FairPool,
  revisionQuota: Pick<RowQuota, 'take'>,
): TemplateStore {
  const cultures: TemplateStore['cultures'] = (tenantId, name) =>
    db.inTenant(tenantId, async (tx) => {
      const rows = await tx.template.findMany({
        where: { tenantId, name, isGone: false, culture: { not: '' } },
        select: { culture: true },
        orderBy: { culture: 'asc' },
      });
      return rows.map(({ culture }) => culture);
    });

  const notFound = async (tenantId: string, key: TemplateKey) =>
    templateNotFound(key, await cultures(tenantId, key.name));

  const find: TemplateStore['find'] = (tenantId, key) =>
    db.inTenant(tenantId, async (tx) => {
      const template = await load(tx, tenantId, key);
      return template?.isGone ? undefined : template;
    });

  const findNearest: TemplateStore['findNearest'] = async (tenantId, name, culture, revisionChoice) => {
    const wanted = fallbackOf(culture).map((one) => one ?? '');
    const rows = await readInTenant<RevisionRow & { culture: string }>(pool, tenantId, {
      name: `find-nearest-${revisionChoice}`,
      text: selectNearestByChoice[revisionChoice],
      values: [tenantId, name, wanted],
    });
    for (const one of wanted) {
      const row = rows.find((candidate) => candidate.culture === one);
      if (row) return { key: { name, culture: one || undefined }, revision: toRevision(row) };
    }
    return undefined;
  };

  return {
    find,
    cultures,

    async get(tenantId, key) {
      const template = await find(tenantId, key);
      if (!template) throw await notFound(tenantId, key);
      return template;
    },

    findNearest,

    async getNearest(tenantId, name, culture, revisionChoice) {
      const found = await findNearest(tenantId, name, culture, revisionChoice);
      if (found) return found;
      const key = { name, culture };
      if (revisionChoice === 'published' && (await findNearest(tenantId, name, culture, 'newest')))
        throw templateNotPublished(key);
      throw await notFound(tenantId, key);
    },

    async list(tenantId, { status, category, culture }, list) {
      const selection = {
        AND: [
          { tenantId, isGone: false },
          ...(status === undefined ? [] : [{ status }]),
          ...(category ? [{ category: category.normalize('NFC') }] : []),
          ...(culture === undefined ? [] : [{ culture }]),
          toWhere(list, ['name', 'category']),
        ],
      };
      return db.inTenant(tenantId, (tx) =>
        findPage(list, {
          selection,
          dates: ['lastModifiedAt'],
          find: (page) => tx.template.findMany({ ...page, omit: { content: true } }),
          count: (all) => tx.template.count(all),
        }),
      );
    },

    async change(
      caller,
      key,
      decide,
      { ifMatch, operationId = caller.operationId, comment, mustExist } = {},
    ) {
      const { tenantId } = caller;
      const changed = await db.inTenant(tenantId, async (tx) => {
        const [, current] = await Promise.all([
          lockTemplate(tx, `${tenantId}/${key.name}~${key.culture ?? ''}`),
          load(tx, tenantId, key),
        ]);
        const visible = current?.isGone ? undefined : current;
        const done = current && (await findOperation<{ by?: string }>(tx, { tenantId, operationId }));
        if (done)
          return {
            template: current,
            isNew: current.version === 1,
            changedBy: done.result.by ?? caller.userId,
          };
        if (mustExist && !visible) return undefined;
        requireMatch(ifMatch, visible && tagOf(visible));
        const step = decide(current);
        const added = step.revisions.filter(({ number }) => number > (current?.revisions ?? 0)).length;
        if (added > 0) revisionQuota.take(tenantId, added);
        await write(tx, tenantId, step, current);
        await Promise.all([
          publishStep(tx, caller, visible, step, { moveId: operationId, comment }),
          recordOperation(tx, { tenantId, operationId }, { by: caller.userId }),
        ]);
        return { template: step.template, isNew: visible === undefined, changedBy: caller.userId };
      });
      if (!changed) throw await notFound(tenantId, key);
      return changed;
    },

    async history(tenantId, key, page, pageSize) {
      const template = await find(tenantId, key);
      if (!template) throw await notFound(tenantId, key);
      const where = { tenantId, templateId: template.id };
      return db.inTenant(tenantId, async (tx) => ({
        rows: await tx.templateRevision.findMany({
          where,
          omit: { content: true },
          orderBy: { number: 'desc' },
          take: pageSize,
          skip: (page - 1) * pageSize,
        }),
        totalCount: await tx.templateRevision.count({ where }),
      }));
    },

    async getRevision(tenantId, name, id) {
      const found = await db.inTenant(tenantId, async (tx) => ({
        isKnown: (await tx.template.count({ where: { tenantId, name, isGone: false } })) > 0,
        row: await tx.templateRevision.findFirst({
          where: { tenantId, id, template: { name, isGone: false } },
          include: { template: { select: { culture: true } } },
        }),
      }));
      if (!found.isKnown) throw await notFound(tenantId, { name, culture: undefined });
      if (!found.row) throw revisionNotFound(name);
      const culture = found.row.template.culture || undefined;
      return { revision: toRevision(found.row), key: { name, culture } };
    },
  };
}

/** Plain SQL, since every rendering waits for it. */
const selectNearestByChoice = {
  newest: selectNearest('COALESCE(t.draft_id, t.published_id)'),
  published: selectNearest('t.published_id'),
} satisfies Record<RevisionChoice, string>;

function selectNearest(revisionId: string): string {
  return `SELECT t.culture, r.id, r.number, r.status, r.mime_type AS "mimeType", r.content,
      r.created_at AS "createdAt", r.created_by AS "createdBy", r.published_at AS "publishedAt", r.published_by AS "publishedBy"
    FROM template t JOIN template_revision r ON r.tenant_id = t.tenant_id AND r.id = ${revisionId}
    WHERE t.tenant_id = $1 AND t.name = $2 AND t.culture = ANY ($3) AND NOT t.is_gone`;
}

/** Of one template. */
const REVISIONS_KEPT = 500;

/** Changes of one template wait for each other. */
const lockTemplate = (tx: Tx, key: string) => lockUntilCommit(tx, key);

type LoadedRow = Omit<TemplateRow, 'content' | 'mimeType' | 'tenantId' | 'category'> & { revisions: number };

/** Each save waits for this, so its statements are written by hand and go out together. */
async function load(tx: Tx, tenantId: string, { name, culture }: TemplateKey): Promise<Template | undefined> {
  const [[row], revisions] = await Promise.all([
    tx.$queryRaw<LoadedRow[]>`
      SELECT id, name, culture, category_name AS "categoryName", requires_approval AS "requiresApproval", status,
        draft_id AS "draftId", published_id AS "publishedId", submitted_by AS "submittedBy", is_gone AS "isGone",
        last_modified_at AS "lastModifiedAt", last_modified_by AS "lastModifiedBy", version,
        (SELECT COALESCE(max(number), 0) FROM template_revision r
         WHERE r.tenant_id = template.tenant_id AND r.template_id = template.id) AS revisions
      FROM template
      WHERE tenant_id = ${tenantId}::uuid AND name = ${name} AND culture = ${culture ?? ''}`,
    tx.$queryRaw<RevisionRow[]>`
      SELECT r.id, r.number, r.status, r.mime_type AS "mimeType", r.content, r.created_at AS "createdAt",
        r.created_by AS "createdBy", r.published_at AS "publishedAt", r.published_by AS "publishedBy"
      FROM template t JOIN template_revision r ON r.tenant_id = t.tenant_id AND r.id IN (t.draft_id, t.published_id)
      WHERE t.tenant_id = ${tenantId}::uuid AND t.name = ${name} AND t.culture = ${culture ?? ''}`,
  ]);
  if (!row) return undefined;
  const revisionOf = (id: string | null): Revision | undefined => {
    const found = revisions.find((revision) => revision.id === id);
    return found && toRevision(found);
  };
  return {
    name: row.name,
    culture: row.culture || undefined,
    id: row.id,
    category: row.categoryName ?? undefined,
    requiresApproval: row.requiresApproval ?? undefined,
    status: row.status as TemplateLifecycleStatus,
    draft: revisionOf(row.draftId),
    published: revisionOf(row.publishedId),
    submittedBy: row.submittedBy ?? undefined,
    isGone: row.isGone,
    lastModifiedAt: row.lastModifiedAt,
    lastModifiedBy: row.lastModifiedBy,
    version: row.version,
    revisions: row.revisions,
  };
}

async function write(
  tx: Tx,
  tenantId: string,
  { template, revisions }: Step,
  current: Template | undefined,
): Promise<void> {
  if (template.category !== undefined && template.category !== current?.category) {
    await requireCategory(tx, tenantId, template.category);
  }
  await Promise.all([
    saveTemplate(tx, tenantId, template),
    ...revisions.map((revision) =>
      revision.number > (current?.revisions ?? 0)
        ? insertRevision(tx, tenantId, template.id, revision)
        : updateRevision(tx, tenantId, revision),
    ),
  ]);
  const newest = Math.max(0, ...revisions.map(({ number }) => number));
  if (newest > REVISIONS_KEPT) await removeOldRevisions(tx, tenantId, template, newest);
}

/** Removes what is older than the newest revisions, except what is published or the draft. */
const removeOldRevisions = (
  tx: Tx,
  tenantId: string,
  { id, draft, published }: Template,
  newest: number,
): Promise<void> =>
  send(
    tx,
    sql`
    DELETE FROM template_revision
    WHERE tenant_id = ${tenantId}::uuid AND template_id = ${id}::uuid AND number <= ${newest - REVISIONS_KEPT}::integer
      AND id IS DISTINCT FROM ${draft?.id ?? null}::uuid AND id IS DISTINCT FROM ${published?.id ?? null}::uuid`,
  );

function saveTemplate(tx: Tx, tenantId: string, template: Template): Promise<void> {
  const shown = template.draft ?? template.published;
  return send(
    tx,
    sql`
    INSERT INTO template (tenant_id, id, name, culture, category_name, requires_approval, status, draft_id,
      published_id, submitted_by, is_gone, last_modified_at, last_modified_by, version, mime_type, content)
    VALUES (${tenantId}::uuid, ${template.id}::uuid, ${template.name}, ${template.culture ?? ''},
      ${template.category ?? null}, ${template.requiresApproval ?? null}::boolean, ${template.status}::integer,
      ${template.draft?.id ?? null}::uuid, ${template.published?.id ?? null}::uuid, ${template.submittedBy ?? null},
      ${template.isGone}::boolean, ${template.lastModifiedAt}::timestamptz, ${template.lastModifiedBy},
      ${template.version}::integer, ${shown?.mimeType ?? DEFAULT_MIME_TYPE}, ${shown?.content ?? ''})
    ON CONFLICT (tenant_id, id) DO UPDATE SET category_name = excluded.category_name,
      requires_approval = excluded.requires_approval, status = excluded.status, draft_id = excluded.draft_id,
      published_id = excluded.published_id, submitted_by = excluded.submitted_by, is_gone = excluded.is_gone,
      last_modified_at = excluded.last_modified_at, last_modified_by = excluded.last_modified_by,
      version = excluded.version,
      -- A template that is gone shows what it was.
      mime_type = CASE WHEN ${shown !== undefined}::boolean THEN excluded.mime_type ELSE template.mime_type END,
      content = CASE WHEN ${shown !== undefined}::boolean THEN excluded.content ELSE template.content END`,
  );
}

const insertRevision = (tx: Tx, tenantId: string, templateId: string, revision: Revision): Promise<void> =>
  send(
    tx,
    sql`
    INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length,
      created_at, created_by, published_at, published_by)
    VALUES (${tenantId}::uuid, ${revision.id}::uuid, ${templateId}::uuid, ${revision.number}::integer,
      ${revision.status}::integer, ${revision.mimeType}, ${revision.content}, ${[...revision.content].length}::integer,
      ${revision.createdAt}::timestamptz, ${revision.createdBy}, ${revision.publishedAt ?? null}::timestamptz,
      ${revision.publishedBy ?? null})`,
  );

const updateRevision = (
  tx: Tx,
  tenantId: string,
  { id, status, publishedAt, publishedBy }: Revision,
): Promise<void> =>
  send(
    tx,
    sql`
    UPDATE template_revision SET status = ${status}::integer, published_at = ${publishedAt ?? null}::timestamptz,
      published_by = ${publishedBy ?? null}
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid`,
  );

/** Locks the category until the commit, so that it cannot be deleted meanwhile. */
async function requireCategory(tx: Tx, tenantId: string, name: string): Promise<void> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM template_category WHERE tenant_id = ${tenantId}::uuid AND name = ${name} FOR KEY SHARE`;
  if (found.length === 0) throw invalid({ category: 'Enum' }, `There is no category "${name}".`);
}

const toRevision = (row: RevisionRow): Revision => ({
  id: row.id,
  number: row.number,
  status: row.status as TemplateLifecycleStatus,
  mimeType: row.mimeType,
  content: row.content,
  createdAt: row.createdAt,
  createdBy: row.createdBy,
  publishedAt: row.publishedAt ?? undefined,
  publishedBy: row.publishedBy ?? undefined,
});

/** Ids for what a save creates. */
export const idsForSave = (): { template: string; revision: string } => ({
  template: newId(),
  revision: newId(),
});
