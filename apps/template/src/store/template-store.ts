import { type TemplateLifecycleStatus } from '@plinth/contracts/template/shapes';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import { NeedsLongRead } from '@plinth/http/total-count';
import type { Caller } from '@plinth/kernel/caller';
import { composed } from '@plinth/kernel/composed';
import { entityTag, requirePrecondition, type Precondition } from '@plinth/kernel/entity-tag';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { afterChange, type Writing } from '@plinth/runtime/messaging/outbox';
import { checkedForValues } from '@plinth/runtime/postgres/checked-for-values';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { isUniqueViolation, readInTenant, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { send, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import {
  findOperation,
  operationRecorded,
  requireSameBody,
  type ExecutedOperation,
  type Operation,
} from '@plinth/runtime/postgres/run-once';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { fallbackOf } from '../domain/culture';
import {
  revisionNotFound,
  templateChangedTooOften,
  templateNotFound,
  templateNotPublished,
} from '../domain/problems';
import {
  DEFAULT_MIME_TYPE,
  REVISIONS_KEPT,
  type Revision,
  type Step,
  type Template,
} from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import { writeStep } from '../events/published';
import type { Prisma, Template as TemplateRow, TemplateRevision as RevisionRow } from '../generated/client';
import type { RevisionQuota } from './revision-quota';

type Tx = Prisma.TransactionClient;

/** What lists show of a template. */
export type TemplateSummary = Omit<TemplateRow, 'content'>;

export interface ChangeOptions {
  precondition?: Precondition;
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
  /** The cultures that templates of this name have, the first by name where there are very many. */
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
  /**
   * The same for who expects no template: saves what `decide` makes of none, mostly in one round trip. Where there is or
   * was one, or another attempt at the operation made it, this is `change`.
   * @throws Problem `quota-exceeded`
   */
  create(
    caller: Caller,
    key: TemplateKey,
    decide: (current: Template | undefined) => Step,
  ): Promise<{ template: Template }>;
  /** Who changed a template by an operation; undefined where it made no change. @throws Problem `idempotency-payload-mismatch` */
  findExecuted(operation: Operation): Promise<{ changedBy: string | undefined } | undefined>;
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

const CULTURES_MAX = 1_000;
/** Imports and renamed categories may change what was read; so many times in a row mean that something is wrong. */
const ATTEMPTS_MAX = 20;

type Changed = Awaited<ReturnType<TemplateStore['change']>>;

/** The strong entity tag of a template. */
export const tagOf = ({ version }: Template): string => entityTag(version);

export function templateStore(
  db: TenantDatabase<Tx>,
  pool: FairPool,
  revisionQuota: Pick<RevisionQuota, 'take' | 'giveBackTaken'>,
): TemplateStore {
  const cultures: TemplateStore['cultures'] = (tenantId, name) =>
    db.inTenant(tenantId, async (tx) => {
      const rows = await tx.template.findMany({
        where: { tenantId, name, isGone: false, culture: { not: '' } },
        select: { culture: true },
        orderBy: { culture: 'asc' },
        take: CULTURES_MAX,
      });
      return rows.map(({ culture }) => culture);
    });

  const notFound = async (tenantId: string, key: TemplateKey) =>
    templateNotFound(key, await cultures(tenantId, key.name));

  const find: TemplateStore['find'] = (tenantId, key) =>
    db.inTenant(
      tenantId,
      async (tx) => {
        const { template } = await load(tx, tenantId, key);
        return template?.isGone ? undefined : template;
      },
      'once',
    );

  const findNearest: TemplateStore['findNearest'] = async (tenantId, name, culture, revisionChoice) => {
    const wanted = fallbackOf(culture).map((one) => one ?? '');
    const rows = await readInTenant<RevisionRow & { culture: string; isGone: boolean }>(pool, tenantId, {
      name: `find-nearest-${revisionChoice}`,
      text: selectNearestByChoice[revisionChoice],
      values: [tenantId, name, wanted],
    });
    for (const one of wanted) {
      const row = rows.find(({ culture, isGone }) => culture === one && !isGone);
      if (row) return { key: { name, culture: one || undefined }, revision: toRevision(row) };
    }
    return undefined;
  };

  /**
   * Undefined where another request recorded the operation meanwhile: it may be about another template, for whose changes
   * this one does not wait.
   */
  const inTenant = async <Result>(
    tenantId: string,
    work: (tx: Tx) => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      return await db.inTenant(tenantId, work, 'once');
    } catch (error) {
      if (isUniqueViolation(error, 'operation')) return undefined;
      throw error;
    }
  };

  /** One attempt at a change; undefined where something else happened since its template and its operation were read. */
  const attempt = async (
    caller: Caller,
    key: TemplateKey,
    decide: (current: Template | undefined) => Step,
    { precondition, operationId, comment, mustExist }: ChangeOptions,
  ): Promise<Changed | 'missing' | undefined> => {
    const { tenantId } = caller;
    const operation: Operation = operationId === undefined ? caller : { tenantId, operationId };
    let added: readonly Revision[] = [];
    const attempted = await inTenant(
      tenantId,
      async (tx): Promise<{ changed: Changed; writing?: Writing } | 'missing'> => {
        const [, { template: current, executed }] = await Promise.all([
          lockTemplate(tx, tenantId, key),
          load(tx, tenantId, key, operation),
        ]);
        const visible = current?.isGone ? undefined : current;
        if (executed && current) {
          const isNew = current.version === 1;
          return { changed: { template: current, isNew, changedBy: executed.by ?? caller.userId } };
        }
        if (executed || (mustExist && !visible)) return 'missing';
        requirePrecondition(precondition, visible && tagOf(visible));
        const step = decide(current);
        const adding = step.revisions.filter(({ number }) => number > (current?.revisions ?? 0));
        if (adding.length > 0) revisionQuota.take(tenantId, contentsOf(adding));
        added = adding;
        await requireCategory(tx, tenantId, step.template, current);
        const changes = changesOf(operation, step, current, caller);
        const writing = writeStep(tx, changes, caller, visible, step, {
          moveId: operation.operationId,
          comment,
        });
        await removeOldRevisions(tx, tenantId, step);
        const changed = { template: step.template, isNew: visible === undefined, changedBy: caller.userId };
        return { changed, writing };
      },
    );
    if (attempted === 'missing') return 'missing';
    if (attempted && (!attempted.writing || (await attempted.writing.isWritten))) return attempted.changed;
    // A transaction that failed has given it back.
    if (attempted) revisionQuota.giveBackTaken(tenantId, contentsOf(added));
    return undefined;
  };

  const change: TemplateStore['change'] = async (caller, key, decide, options = {}) => {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const changed = await attempt(caller, key, decide, options);
      if (changed === 'missing') throw await notFound(caller.tenantId, key);
      if (changed) return changed;
    }
    throw templateChangedTooOften(key);
  };

  /**
   * What a creation writes where nothing is there; undefined where it has to look first. What it would be refused for
   * counts only then: an earlier attempt at the operation may have succeeded. A category is looked for and held anyway.
   */
  const stepOfCreation = (decide: (current: Template | undefined) => Step): Step | undefined => {
    try {
      const step = decide(undefined);
      return step.template.category === undefined ? step : undefined;
    } catch {
      return undefined;
    }
  };

  /** Takes the room of a transaction for revisions, where there is enough; `change` says what it is refused for. */
  const hasRoom = (tenantId: string, revisions: readonly Revision[]): boolean => {
    try {
      revisionQuota.take(tenantId, contentsOf(revisions));
      return true;
    } catch {
      return false;
    }
  };

  return {
    find,
    cultures,
    change,

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
      // No index knows which templates these leave.
      if (!list.countsAll && (status !== undefined || culture !== undefined)) throw new NeedsLongRead();
      const selection = {
        AND: [
          { tenantId, isGone: false },
          ...(status === undefined ? [] : [{ status }]),
          ...(category ? [{ categoryName: composed(category) ?? category }] : []),
          ...(culture === undefined ? [] : [{ culture }]),
          toWhere(list, ['name', 'category']),
        ],
      };
      return db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        return findPage(list, {
          selection,
          dates: ['lastModifiedAt'],
          find: (page) => tx.template.findMany({ ...page, omit: { content: true } }),
          count: (all) => tx.template.count(all),
        });
      });
    },

    async create(caller, key, decide) {
      const { tenantId } = caller;
      const step = stepOfCreation(decide);
      if (!step) return change(caller, key, decide);
      const { template, revisions } = step;
      let added: readonly Revision[] = [];
      const writing = await inTenant(tenantId, async (tx) => {
        if (!hasRoom(tenantId, revisions)) return undefined;
        added = revisions;
        await lockTemplate(tx, tenantId, key);
        return writeStep(tx, changesOf(caller, step, undefined, caller), caller, undefined, step);
      });
      if (await writing?.isWritten) return { template };
      // A transaction that failed has given it back.
      if (writing) revisionQuota.giveBackTaken(tenantId, contentsOf(added));
      return change(caller, key, decide);
    },

    async findExecuted(operation) {
      if (operation.operationId === undefined) return undefined;
      const find = (tx: Tx) => findOperation<{ by?: string }>(tx, operation);
      const executed = await db.inTenant(operation.tenantId, find, 'once');
      return executed && { changedBy: executed.result.by };
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

/**
 * Plain SQL, since every rendering waits for it. Each row is asked for by its whole key and nothing else, and the id of
 * the revision is computed before (OFFSET), or row-level security would keep it from the index (ADR 0022).
 */
const selectNearestByChoice = {
  newest: selectNearest('COALESCE(draft_id, published_id)'),
  published: selectNearest('published_id'),
} satisfies Record<RevisionChoice, string>;

function selectNearest(revisionId: string): string {
  return `SELECT t.culture, t.is_gone AS "isGone", r.id, r.number, r.status, r.mime_type AS "mimeType", r.content,
      r.created_at AS "createdAt", r.created_by AS "createdBy", r.published_at AS "publishedAt", r.published_by AS "publishedBy"
    FROM (
      SELECT culture, is_gone, ${revisionId} AS revision_id FROM template
      WHERE tenant_id = $1 AND name = $2 AND culture = ANY ($3) OFFSET 0
    ) AS t CROSS JOIN LATERAL (
      SELECT * FROM template_revision WHERE tenant_id = $1 AND id = t.revision_id LIMIT 1
    ) AS r`;
}

const contentsOf = (revisions: readonly Revision[]): string[] => revisions.map(({ content }) => content);

/** Changes of one template wait for each other. */
const lockTemplate = (tx: Tx, tenantId: string, { name, culture }: TemplateKey) =>
  lockUntilCommit(tx, `${tenantId}/${name}~${culture ?? ''}`);

/** A template beside one of its revisions, or beside none. */
type LoadedRow = Omit<TemplateRow, 'id' | 'content' | 'mimeType' | 'tenantId' | 'category'> & {
  /** Null where there is no template. */
  id: string | null;
  revisions: number;
  executed: ExecutedOperation<{ by?: string }> | null;
  revisionId: string | null;
  revisionStatus: number;
} & Omit<RevisionRow, 'id' | 'status'>;

interface Loaded {
  template: Template | undefined;
  /** The result of the operation, where it was executed before, be it about another template. */
  executed: { by?: string } | undefined;
}

/**
 * Each save waits for this, so it is one statement by hand; each look-up asks for a whole key.
 * @throws Problem `idempotency-payload-mismatch` where the operation was executed with another body
 */
async function load(
  tx: Tx,
  tenantId: string,
  { name, culture }: TemplateKey,
  operation?: Operation,
): Promise<Loaded> {
  const rows = await tx.$queryRaw<[LoadedRow, ...LoadedRow[]]>`
    SELECT t.id, t.name, t.culture, t.category_name AS "categoryName", t.requires_approval AS "requiresApproval",
      t.status, t.draft_id AS "draftId", t.published_id AS "publishedId", t.submitted_by AS "submittedBy",
      t.is_gone AS "isGone", t.last_modified_at AS "lastModifiedAt", t.last_modified_by AS "lastModifiedBy", t.version,
      COALESCE((SELECT number FROM template_revision WHERE tenant_id = t.tenant_id AND template_id = t.id
                ORDER BY number DESC LIMIT 1), 0) AS revisions,
      (SELECT jsonb_build_object('result', result, 'bodyHash', body_hash) FROM executed_operation
       WHERE tenant_id = ${tenantId}::uuid AND operation_id = ${operation?.operationId ?? null}::text) AS executed,
      r.id AS "revisionId", r.number, r.status AS "revisionStatus", r.mime_type AS "mimeType", r.content,
      r.created_at AS "createdAt", r.created_by AS "createdBy", r.published_at AS "publishedAt",
      r.published_by AS "publishedBy"
    FROM (SELECT) AS wanted
    LEFT JOIN LATERAL (
      SELECT * FROM template
      WHERE tenant_id = ${tenantId}::uuid AND name = ${name} AND culture = ${culture ?? ''} LIMIT 1
    ) AS t ON true
    LEFT JOIN LATERAL (
      (SELECT * FROM template_revision WHERE tenant_id = ${tenantId}::uuid AND id = t.draft_id LIMIT 1)
      UNION ALL
      (SELECT * FROM template_revision WHERE tenant_id = ${tenantId}::uuid AND id = t.published_id LIMIT 1)
    ) AS r ON true`;
  const [row] = rows;
  if (operation && row.executed) requireSameBody(operation, row.executed);
  const executed = row.executed?.result;
  if (row.id === null) return { template: undefined, executed };
  const revisionOf = (id: string | null): Revision | undefined => {
    const found = id !== null && rows.find(({ revisionId }) => revisionId === id);
    return found ? toRevision({ ...found, id, status: found.revisionStatus }) : undefined;
  };
  const template: Template = {
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
  return { template, executed };
}

/**
 * The changes that save what a step leads to, where the template is as it was read: imports change templates and renamed
 * categories do, which wait for no lock of ours. Revisions follow each other: one is archived before another one takes
 * its place as the draft, or as what is published.
 */
const changesOf = (
  operation: Operation,
  { template, revisions }: Step,
  current: Template | undefined,
  { tenantId, userId: by }: Caller,
) => ({
  decisive: current
    ? templateUpdated(tenantId, template, current)
    : sql`${templateInserted(tenantId, template)} ON CONFLICT DO NOTHING`,
  toOthers: (isDecided: Sql): Sql[] => [
    ...revisions.map((revision, index) => {
      const follows = index === 0 ? isDecided : sql`${isDecided} AND ${afterChange(index)}`;
      return revision.number > (current?.revisions ?? 0)
        ? revisionInserted(tenantId, template.id, revision, follows)
        : revisionUpdated(tenantId, revision, follows);
    }),
    ...[operationRecorded(operation, { by }, isDecided)].filter((one) => one !== undefined),
  ],
});

/**
 * Removes what is older than the newest revisions, except what is published or the draft. This follows the statement of
 * the change, which may have archived one of them. Where that found another template than was read, so many older ones go
 * all the same, except what is published or the draft there.
 */
async function removeOldRevisions(
  tx: Tx,
  tenantId: string,
  { template: { id }, revisions }: Step,
): Promise<void> {
  const newest = Math.max(0, ...revisions.map(({ number }) => number));
  if (newest <= REVISIONS_KEPT) return;
  await send(
    tx,
    sql`
    DELETE FROM template_revision
    WHERE tenant_id = ${tenantId}::uuid AND template_id = ${id}::uuid AND number <= ${newest - REVISIONS_KEPT}::integer
      AND NOT EXISTS (SELECT FROM template WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid
        AND template_revision.id IN (draft_id, published_id))`,
  );
}

const shownOf = ({ draft, published }: Template): Revision | undefined => draft ?? published;

function templateInserted(tenantId: string, template: Template): Sql {
  const shown = shownOf(template);
  return sql`
    INSERT INTO template (tenant_id, id, name, culture, category_name, requires_approval, status, draft_id,
      published_id, submitted_by, is_gone, last_modified_at, last_modified_by, version, mime_type, content)
    VALUES (${tenantId}::uuid, ${template.id}::uuid, ${template.name}, ${template.culture ?? ''},
      ${template.category ?? null}, ${template.requiresApproval ?? null}::boolean, ${template.status}::integer,
      ${template.draft?.id ?? null}::uuid, ${template.published?.id ?? null}::uuid, ${template.submittedBy ?? null},
      ${template.isGone}::boolean, ${template.lastModifiedAt}::timestamptz, ${template.lastModifiedBy},
      ${template.version}::integer, ${shown?.mimeType ?? DEFAULT_MIME_TYPE}, ${shown?.content ?? ''})`;
}

/** Where a template is as it was read. As an insertion it finds the row by its key, whatever the statistics say (ADR 0022). */
function templateUpdated(tenantId: string, template: Template, current: Template): Sql {
  const isShown = shownOf(template) !== undefined;
  return sql`${templateInserted(tenantId, template)}
    ON CONFLICT (tenant_id, id) DO UPDATE SET category_name = excluded.category_name,
      requires_approval = excluded.requires_approval, status = excluded.status, draft_id = excluded.draft_id,
      published_id = excluded.published_id, submitted_by = excluded.submitted_by, is_gone = excluded.is_gone,
      last_modified_at = excluded.last_modified_at, last_modified_by = excluded.last_modified_by,
      version = excluded.version,
      -- A template that is gone shows what it was.
      mime_type = CASE WHEN ${isShown}::boolean THEN excluded.mime_type ELSE template.mime_type END,
      content = CASE WHEN ${isShown}::boolean THEN excluded.content ELSE template.content END
    WHERE template.version = ${current.version}::integer`;
}

const revisionInserted = (tenantId: string, templateId: string, revision: Revision, where: Sql): Sql => sql`
    INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length,
      created_at, created_by, published_at, published_by)
    SELECT ${tenantId}::uuid, ${revision.id}::uuid, ${templateId}::uuid, ${revision.number}::integer,
      ${revision.status}::integer, ${revision.mimeType}, ${revision.content}, ${[...revision.content].length}::integer,
      ${revision.createdAt}::timestamptz, ${revision.createdBy}, ${revision.publishedAt ?? null}::timestamptz,
      ${revision.publishedBy ?? null}
    WHERE ${where} AND ${checkedForValues} RETURNING id`;

const revisionUpdated = (
  tenantId: string,
  { id, status, publishedAt, publishedBy }: Revision,
  where: Sql,
): Sql => sql`
    UPDATE template_revision SET status = ${status}::integer, published_at = ${publishedAt ?? null}::timestamptz,
      published_by = ${publishedBy ?? null}
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid AND ${where} RETURNING id`;

/** Locks the category that a template gets until the commit, so that it cannot be deleted meanwhile. */
async function requireCategory(
  tx: Tx,
  tenantId: string,
  { category: name }: Template,
  current: Template | undefined,
): Promise<void> {
  if (name === undefined || name === current?.category) return;
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
