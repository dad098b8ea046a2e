import type { Caller } from '@plinth/kernel/caller';
import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { Approval, Delegator, Vote } from '../domain/approval';
import { publishApprovalEscalated, publishApprovalReminded } from '../events/published';
import type { Prisma } from '../generated/client';
import { findDelegators } from './delegation-store';

type Tx = Prisma.TransactionClient;

export interface WaitingApproval {
  approval: Approval;
  votes: Vote[];
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
  /** Open requests of all tenants whose next step is due after one instant and not after the other, the next ones first. */
  findComing(after: Date, until: Date, limit: number): Promise<{ tenantId: string; approval: Approval }[]>;
  /** Records that the approvers were reminded; only the first of several attempts publishes it. */
  remind(tenantId: string, approval: Approval): Promise<void>;
  /** Lets those it escalates to decide too; only the first of several attempts publishes it. */
  escalate(tenantId: string, approval: Approval): Promise<void>;
}

/**
 * How one request is asked whether it is open: not by `end`, by which the indexes of open requests would look as good to
 * Postgres as the key (ADR 0022).
 */
const IS_OPEN = { endedAt: null };

/** Skips from tenant to tenant through the index, so that the cost depends on how many have timers, not on requests. */
const TENANTS_WITH_DUE = `
  WITH RECURSIVE first AS (
    (SELECT tenant_id, next_step_at FROM approval WHERE "end" IS NULL AND next_step_at IS NOT NULL
      ORDER BY tenant_id, next_step_at, id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.next_step_at FROM first CROSS JOIN LATERAL (
      SELECT tenant_id, next_step_at FROM approval
       WHERE "end" IS NULL AND next_step_at IS NOT NULL AND tenant_id > first.tenant_id
       ORDER BY tenant_id, next_step_at, id LIMIT 1
    ) AS next
  )
  SELECT tenant_id FROM first WHERE next_step_at <= $1::timestamptz ORDER BY next_step_at, tenant_id`;

const FIRST_DUE: DueApproval = { nextStepAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };
const DUE = `
  SELECT id, next_step_at AS "nextStepAt" FROM approval
   WHERE tenant_id = $1::uuid AND "end" IS NULL AND next_step_at <= $2::timestamptz
     AND (next_step_at, id) > ($3::timestamptz, $4::uuid)
   ORDER BY next_step_at, id LIMIT $5`;

export function approvalStore(db: TenantDatabase<Tx>): ApprovalStore {
  return {
    waitingFor: (caller, now, list) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const delegators = await findDelegators(tx, caller.tenantId, caller.userId, now);
        // What a caller may decide is found by looking through the open requests, the first ones first (ADR 0022).
        await readByIndexes(tx, 'for-values');
        const { rows, totalCount } = await findPage(list, {
          selection: { AND: [toWhere(list, []), waitingFor(caller, delegators)] },
          dates: ['requestedAt'],
          find: (page) => tx.openApproval.findMany(page),
          count: (all) => tx.openApproval.count(all),
        });
        return { rows: rows.map(toWaitingApproval), totalCount, delegators };
      }),

    async findOpen(tenantId, id) {
      const row = await db.inTenant(tenantId, (tx) =>
        tx.approval.findUnique({ where: { tenantId_id: { tenantId, id }, ...IS_OPEN } }),
      );
      return row ? toApproval(row) : undefined;
    },

    tenantsWithDue: (now) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        const rows = await tx.$queryRawUnsafe<{ tenant_id: string }[]>(TENANTS_WITH_DUE, now);
        return rows.map(({ tenant_id }) => tenant_id);
      }),

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
  };
}

/**
 * Records that a step was performed, where nobody did before and the request is open. The next one follows from the row,
 * since the other step may have been performed since it was read. It is the same rule as `nextStepAt` of the domain.
 */
async function performStep(
  tx: RawStatements,
  tenantId: string,
  { id }: Approval,
  performed: 'is_reminded' | 'is_escalated',
): Promise<boolean> {
  const stillAt = (step: typeof performed, column: string) =>
    step === performed ? 'NULL' : `CASE WHEN NOT ${step} THEN ${column} END`;
  const recorded = await tx.$executeRawUnsafe(
    `UPDATE approval SET ${performed} = true, next_step_at =
       LEAST(${stillAt('is_reminded', 'remind_at')}, ${stillAt('is_escalated', 'escalate_at')}, expires_at)
     WHERE tenant_id = $1::uuid AND id = $2::uuid AND ended_at IS NULL AND NOT ${performed}`,
    tenantId,
    id,
  );
  return recorded > 0;
}

/** The same rule as `seatToAgree` of the domain, for the database; a test compares them (inbox.spec.ts). */
const waitingFor = (caller: Caller, delegators: readonly Delegator[]): Prisma.OpenApprovalWhereInput => ({
  tenantId: caller.tenantId,
  requestedBy: { not: caller.userId },
  NOT: { voters: { has: caller.userId } },
  AND: [seatOfAny([caller, ...delegators])],
  OR: [
    seatOf(caller),
    ...delegators.map((delegator) => ({
      requestedBy: { not: delegator.userId },
      AND: [seatOf(delegator)],
    })),
  ],
});

/**
 * Follows from the seat of any of them, and is looked at once: a request for nobody here is not compared with each of up to
 * a hundred persons.
 */
function seatOfAny(persons: readonly Delegator[]): Prisma.OpenApprovalWhereInput {
  const users = { hasSome: persons.map(({ userId }) => userId) };
  const granted = grantedTo([...new Set(persons.flatMap(({ permissions }) => permissions))]);
  return {
    OR: [
      { approverUsers: users },
      { approverPermission: granted },
      { isEscalated: true, escalateUsers: users },
      { isEscalated: true, escalatePermission: granted },
    ],
  };
}

/**
 * `not: null` says that a request without a permission is none of theirs. The list would leave that unknown, and the
 * seats be looked up.
 */
const grantedTo = (permissions: readonly string[]) =>
  permissions.includes('*') ? { not: null } : { in: [...permissions], not: null };

const seatOf = ({ userId, permissions }: Delegator): Prisma.OpenApprovalWhereInput => {
  const granted = grantedTo(permissions);
  return {
    OR: [
      { approverUsers: { has: userId } },
      { approverPermission: granted },
      { isEscalated: true, escalateUsers: { has: userId } },
      { isEscalated: true, escalatePermission: granted },
    ],
    NOT: { seats: { has: userId } },
  };
};

const toWaitingApproval = (row: Prisma.OpenApprovalModel): WaitingApproval => ({
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
