import type { Caller } from '@plinth/kernel/caller';
import type { ListRequest } from '@plinth/http/paging';
import { totalCountOf } from '@plinth/http/total-count';
import { escapeLike } from '@plinth/kernel/like-pattern';
import type { Filter } from '@plinth/kernel/list-query';
import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { empty, join, raw, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { withoutStatementNames } from '@plinth/runtime/postgres/statement-names';
import type { Approval, Delegator, Vote } from '../domain/approval';
import { publishApprovalEscalated, publishApprovalReminded } from '../events/published';
import type { Prisma } from '../generated/client';
import { findDelegators } from './delegation-store';
import { APPROVAL_COLUMNS } from './entity-statements';

type Tx = Prisma.TransactionClient;

export interface WaitingApproval {
  approval: Approval;
  votes: Vote[];
}

/** An open request about whose entity the owner is to be asked. */
export interface DueVerification extends Pick<Approval, 'id' | 'entityType' | 'entityId'> {
  /** What says that nothing else had it verified meanwhile. */
  verifyAt: Date;
}

/** An open request whose next step is due. */
export interface DueApproval {
  id: string;
  nextStepAt: Date;
}

export interface ApprovalStore {
  /** The open requests that this caller may decide, in their own place or another's. */
  waitingFor(
    caller: Caller,
    now: Date,
    list: ListRequest,
  ): Promise<{ rows: WaitingApproval[]; totalCount: number | null; delegators: Delegator[] }>;
  /** An open request; undefined once it ended. */
  findOpen(tenantId: string, id: string): Promise<Approval | undefined>;
  /** Tenants with open requests whose next step is due, the one with the most overdue first. */
  tenantsWithDue(now: Date): Promise<string[]>;
  /** Open requests of a tenant whose next step is due, the most overdue first, behind one of them. */
  findDue(tenantId: string, now: Date, after: DueApproval | undefined, limit: number): Promise<DueApproval[]>;
  /**
   * Open requests of all tenants whose next step is due after one instant and not after the other, the next ones first.
   */
  findComing(after: Date, until: Date, limit: number): Promise<{ tenantId: string; approval: Approval }[]>;
  /** Records that the approvers were reminded; only the first of several attempts publishes it. */
  remind(tenantId: string, approval: Approval): Promise<void>;
  /** Lets those it escalates to decide too; only the first of several attempts publishes it. */
  escalate(tenantId: string, approval: Approval): Promise<void>;
  /** Tenants with open requests that are to be verified, the one that waits longest first. */
  tenantsToVerify(now: Date): Promise<string[]>;
  /**
   * Open requests of a tenant that are to be verified, those that wait longest first. They are claimed: until then no
   * process finds them again, and after that whichever comes first, unless `recordVerified` was called.
   * @param options.without entity types whose requests are left as they are
   */
  claimVerifications(
    tenantId: string,
    now: Date,
    options: { until: Date; without: readonly string[]; limit: number },
  ): Promise<DueVerification[]>;
  /** Records that the owner has the entity of a request, unless it is to be asked again since. */
  recordVerified(tenantId: string, verification: Pick<DueVerification, 'id' | 'verifyAt'>): Promise<void>;
}

/**
 * How one request is asked whether it is open: not by `end`, by which the indexes of open requests would look as good
 * to Postgres as the key (ADR 0022).
 */
const IS_OPEN = { endedAt: null };

/**
 * Skips from tenant to tenant through an index, so that the cost depends on how many have something due, not on
 * requests.
 */
const tenantsByFirst = (column: 'next_step_at' | 'verify_at') => `
  WITH RECURSIVE first AS (
    (SELECT tenant_id, ${column} FROM approval WHERE "end" IS NULL AND ${column} IS NOT NULL
      ORDER BY tenant_id, ${column}, id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.${column} FROM first CROSS JOIN LATERAL (
      SELECT tenant_id, ${column} FROM approval
       WHERE "end" IS NULL AND ${column} IS NOT NULL AND tenant_id > first.tenant_id
       ORDER BY tenant_id, ${column}, id LIMIT 1
    ) AS next
  )
  SELECT tenant_id FROM first WHERE ${column} <= $1::timestamptz ORDER BY ${column}, tenant_id`;
const TENANTS_WITH_DUE = tenantsByFirst('next_step_at');
const TENANTS_TO_VERIFY = tenantsByFirst('verify_at');

/** Who claims passes over what others are just claiming. */
const CLAIM_VERIFICATIONS = `
  WITH claimed AS MATERIALIZED (
    SELECT id FROM approval
     WHERE tenant_id = $1::uuid AND "end" IS NULL AND verify_at IS NOT NULL AND verify_at <= $2::timestamptz
       AND entity_type <> ALL($5::text[])
     ORDER BY tenant_id, verify_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
  )
  UPDATE approval SET verify_at = $3::timestamptz FROM claimed
   WHERE approval.tenant_id = $1::uuid AND approval.id = claimed.id
  RETURNING approval.id, entity_type AS "entityType", entity_id AS "entityId", verify_at AS "verifyAt"`;

const FIRST_DUE: DueApproval = { nextStepAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };
const DUE = `
  SELECT id, next_step_at AS "nextStepAt" FROM approval
   WHERE tenant_id = $1::uuid AND "end" IS NULL AND next_step_at <= $2::timestamptz
     AND (next_step_at, id) > ($3::timestamptz, $4::uuid)
   ORDER BY next_step_at, id LIMIT $5`;

export function approvalStore(db: TenantDatabase<Tx>): ApprovalStore {
  const tenantsWhere = (statement: string, now: Date): Promise<string[]> =>
    db.inPlatform(async (tx) => {
      await readByIndexes(tx, 'for-values');
      const rows = await tx.$queryRawUnsafe<{ tenant_id: string }[]>(statement, now);
      return rows.map(({ tenant_id }) => tenant_id);
    });

  return {
    waitingFor: (caller, now, list) =>
      db.inTenant(caller.tenantId, async (tx) => {
        await readAtOneInstant(tx);
        const delegators = await findDelegators(tx, caller.tenantId, caller.userId, now);
        await readByIndexes(tx, 'for-values');
        const waiting = (page: Page) => waitingFor(caller, delegators, list, page);
        return withoutStatementNames(async () => {
          const totalCount = await totalCountOf(list, (first) => count(tx, waiting(firstOnes(first))));
          const rows = await tx.$queryRaw<OpenApproval[]>(selectPage(caller, list, waiting));
          return { rows: rows.map(toWaitingApproval), totalCount, delegators };
        });
      }),

    async findOpen(tenantId, id) {
      const row = await db.inTenant(tenantId, (tx) =>
        tx.approval.findUnique({ where: { tenantId_id: { tenantId, id }, ...IS_OPEN } }),
      );
      return row ? toApproval(row) : undefined;
    },

    tenantsWithDue: (now) => tenantsWhere(TENANTS_WITH_DUE, now),

    findDue: (tenantId, now, after, limit) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        const { nextStepAt, id } = after ?? FIRST_DUE;
        return tx.$queryRawUnsafe<DueApproval[]>(DUE, tenantId, now, nextStepAt, id, limit);
      }),

    async findComing(after, until, limit) {
      const rows = await db.inPlatform((tx) =>
        tx.approval.findMany({
          where: { end: null, nextStepAt: { gt: after, lte: until } },
          orderBy: { nextStepAt: 'asc' },
          take: limit,
        }),
      );
      return rows.map((row) => ({ tenantId: row.tenantId, approval: toApproval(row) }));
    },

    async remind(tenantId, approval) {
      await db.inTenant(tenantId, async (tx) => {
        if (await performStep(tx, tenantId, approval, 'is_reminded'))
          await publishApprovalReminded(tx, tenantId, approval);
      });
    },

    async escalate(tenantId, approval) {
      await db.inTenant(tenantId, async (tx) => {
        if (await performStep(tx, tenantId, approval, 'is_escalated'))
          await publishApprovalEscalated(tx, tenantId, approval);
      });
    },

    tenantsToVerify: (now) => tenantsWhere(TENANTS_TO_VERIFY, now),

    claimVerifications: (tenantId, now, { until, without, limit }) =>
      db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        return tx.$queryRawUnsafe<DueVerification[]>(
          CLAIM_VERIFICATIONS,
          tenantId,
          now,
          until,
          limit,
          without,
        );
      }),

    async recordVerified(tenantId, { id, verifyAt }) {
      await db.inTenant(tenantId, (tx) =>
        tx.$executeRawUnsafe(
          `UPDATE approval SET verify_at = NULL
           WHERE tenant_id = $1::uuid AND id = $2::uuid AND ended_at IS NULL AND verify_at = $3::timestamptz`,
          tenantId,
          id,
          verifyAt,
        ),
      );
    },
  };
}

/** When the next step is due behind one that is performed, by the row as it is then; the same rule as `nextStepAt`. */
function nextStepBehind(performed: 'is_reminded' | 'is_escalated'): string {
  const steps = {
    is_reminded: 'CASE WHEN NOT is_reminded THEN remind_at END',
    is_escalated: 'CASE WHEN NOT is_escalated THEN escalate_at END',
    expires_at: 'expires_at',
  };
  const left = Object.entries(steps).filter(([step]) => step !== performed);
  return `LEAST(${left.map(([, at]) => at).join(', ')})`;
}

/**
 * Records that a step was performed, where nobody did before and the request is open. The next one follows from the
 * row, since another step may have been performed since it was read.
 */
async function performStep(
  tx: RawStatements,
  tenantId: string,
  { id }: Approval,
  performed: 'is_reminded' | 'is_escalated',
): Promise<boolean> {
  const recorded = await tx.$executeRawUnsafe(
    `UPDATE approval SET ${performed} = true, next_step_at = ${nextStepBehind(performed)}
     WHERE tenant_id = $1::uuid AND id = $2::uuid AND ended_at IS NULL AND NOT ${performed}`,
    tenantId,
    id,
  );
  return recorded > 0;
}

/** What is asked for of the requests that wait for somebody: their order, those behind one, and how many of them. */
interface Page {
  after: Sql;
  orderBy: Sql;
}

/**
 * All requests, or for each one as whom somebody may decide the first ones: they are all where no more than those wait
 * for them together.
 */
const firstOnes = (limit: number | undefined): Page => ({
  after: empty,
  orderBy:
    limit === undefined
      ? empty
      : sql`ORDER BY waiting.requested_at, waiting.approval_id LIMIT ${limit}::integer`,
});

/** A user or the holders of a permission, as requests name them, and who of some persons they are. */
interface Approver {
  approver: string;
  persons: string[];
}

const ALL_PERMISSIONS = '*';

/** As whom these persons may decide. Who holds all permissions may decide whatever any permission may. */
function approversOf(persons: readonly Delegator[]): Approver[] {
  const found = new Map<string, Set<string>>();
  for (const { userId, permissions } of persons) {
    const granted = permissions.includes(ALL_PERMISSIONS)
      ? [ALL_PERMISSIONS]
      : permissions.map((permission) => `permission:${permission}`);
    for (const approver of [`user:${userId}`, ...granted])
      found.set(approver, (found.get(approver) ?? new Set()).add(userId));
  }
  return [...found].map(([approver, users]) => ({ approver, persons: [...users] }));
}

/**
 * The same rule as `seatToAgree` of the domain, for the database; a test compares them (inbox.spec.ts). For each one as
 * whom the caller may decide it reads the open requests in the order in which they were made, and no more than the page
 * has, so that the rest of what waits, for the caller or for others, is not looked at (ADR 0022). Only a request that
 * needs several has votes while it is open.
 */
const waitingFor = (
  caller: Caller,
  delegators: readonly Delegator[],
  { filters }: Pick<ListRequest, 'filters'>,
  { after, orderBy }: Page,
): Sql => sql`
  SELECT DISTINCT found.approval_id AS id, found.requested_at
  FROM jsonb_to_recordset(${JSON.stringify(approversOf([caller, ...delegators]))}::jsonb)
    AS decider (approver text, persons text[])
  CROSS JOIN LATERAL (
    SELECT waiting.approval_id, waiting.requested_at FROM approval_approver AS waiting
    WHERE waiting.tenant_id = ${caller.tenantId}::uuid AND waiting.approver = decider.approver
      AND waiting.requested_by <> ${caller.userId} AND NOT decider.persons <@ ARRAY[waiting.requested_by]
      AND (waiting.needed = 1 OR (
        NOT decider.persons <@ (waiting.requested_by || ARRAY(SELECT seat FROM approval_vote AS vote
          WHERE vote.tenant_id = waiting.tenant_id AND vote.approval_id = waiting.approval_id))
        AND NOT EXISTS (SELECT FROM approval_vote AS vote
          WHERE vote.tenant_id = waiting.tenant_id AND vote.approval_id = waiting.approval_id
            AND vote.voter_id = ${caller.userId})))
      ${filters.length === 0 ? empty : matching(filters)} ${after} ${orderBy}
  ) AS found`;

const count = async (tx: Tx, selection: Sql): Promise<number> => {
  const [row] = await tx.$queryRaw<[{ total: number }]>(
    sql`SELECT count(*)::int AS total FROM (${selection}) AS waiting`,
  );
  return row.total;
};

/** Each request of the page is looked up in the order of the index that has what is known of it. */
function selectPage(
  { tenantId }: Caller,
  { sort, after, limit, offset }: ListRequest,
  waiting: (page: Page) => Sql,
): Sql {
  const isDescending = sort.some(({ descending }) => descending);
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const [requestedAt, id] = after ?? [];
  const page = {
    after: after
      ? sql`AND (waiting.requested_at, waiting.approval_id) ${raw(isDescending ? '<' : '>')}
          (${requestedAt}::timestamptz, ${id}::uuid)`
      : empty,
    orderBy: sql`ORDER BY waiting.requested_at ${direction}, waiting.approval_id ${direction}
      LIMIT ${limit + offset}::integer`,
  };
  return sql`
    SELECT ${raw(APPROVAL_COLUMNS)}, tenant_id AS "tenantId", seats, voters
    FROM (
      SELECT id AS page_id, requested_at AS page_at FROM (${waiting(page)}) AS waiting
      ORDER BY requested_at ${direction}, id ${direction} LIMIT ${limit}::integer OFFSET ${offset}::integer
    ) AS page CROSS JOIN LATERAL (
      SELECT * FROM open_approval
      WHERE tenant_id = ${tenantId}::uuid AND requested_at >= page_at AND requested_at <= page_at
        AND id >= page_id AND id <= page_id
      ORDER BY requested_at, id LIMIT 1
    ) AS request
    ORDER BY page_at ${direction}, page_id ${direction}`;
}

const COLUMNS: Readonly<Record<string, string>> = {
  entityType: 'entity_type',
  entityId: 'entity_id',
  requestedBy: 'requested_by',
  requestedAt: 'requested_at',
};

/** Of filters the requests themselves are looked at. */
const matching = (filters: readonly Filter[]): Sql => sql`
  AND EXISTS (SELECT FROM approval AS request
    WHERE request.tenant_id = waiting.tenant_id AND request.id = waiting.approval_id
      AND ${join(filters.map(conditionOf), ' AND ')})`;

function conditionOf({ field, operator, values }: Filter): Sql {
  const column = raw(`request.${COLUMNS[field]!}`);
  const [first, second] = values;
  const like = (pattern: string) => sql`${column} ILIKE ${pattern}`;
  const text = escapeLike(String(first));
  switch (operator) {
    case 'eq':
      return sql`${column} = ${first}`;
    case 'in':
      return sql`${column} IN (${join(values)})`;
    case 'between':
      return sql`${column} BETWEEN ${first} AND ${second}`;
    case 'contains':
      return like(`%${text}%`);
    case 'startsWith':
      return like(`${text}%`);
    case 'endsWith':
      return like(`%${text}`);
    default:
      return sql`${column} ${raw(COMPARISONS[operator])} ${first}`;
  }
}

const COMPARISONS = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

type OpenApproval = Approval & Pick<Prisma.OpenApprovalModel, 'seats' | 'voters' | 'tenantId'>;

const toWaitingApproval = (row: OpenApproval): WaitingApproval => ({
  approval: toApproval(row),
  votes: row.seats.map((seat, index) => ({ seat, voterId: row.voters[index]! })),
});

const toApproval = (row: Approval & { tenantId: string }): Approval => ({
  id: row.id,
  entityType: row.entityType,
  entityId: row.entityId,
  transitionName: row.transitionName,
  formerState: row.formerState,
  targetState: row.targetState,
  requestedBy: row.requestedBy,
  requestedByName: row.requestedByName,
  requestedAt: row.requestedAt,
  comment: row.comment,
  entityVersion: row.entityVersion,
  approverPermission: row.approverPermission,
  approverUsers: row.approverUsers,
  needed: row.needed,
  remindAt: row.remindAt,
  escalateAt: row.escalateAt,
  escalatePermission: row.escalatePermission,
  escalateUsers: row.escalateUsers,
  isReminded: row.isReminded,
  isEscalated: row.isEscalated,
  expiresAt: row.expiresAt,
});
