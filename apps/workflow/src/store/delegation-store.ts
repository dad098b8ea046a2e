import {
  DELEGATIONS_GIVEN_MAX,
  DELEGATIONS_LISTED_MAX,
  DELEGATIONS_RECEIVED_MAX,
} from '@plinth/contracts/workflow/shapes';
import type { RowQuota } from '@plinth/http/row-quota';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { runOnce, type Operation } from '@plinth/runtime/postgres/run-once';
import type { Delegator } from '../domain/approval';
import type { Delegation } from '../domain/delegation';
import { delegationNotFound, tooManyDelegations, tooManyDelegationsReceived } from '../domain/problems';
import type { Prisma } from '../generated/client';

type Tx = Prisma.TransactionClient;

export interface DelegationStore {
  /** Those that the user gave or received and that are not over. */
  ofUser(tenantId: string, userId: string, now: Date): Promise<Delegation[]>;
  find(tenantId: string, id: string): Promise<Delegation | undefined>;
  /** Saves a delegation; a retried operation returns what its first attempt saved. @throws Problem `quota-exceeded` */
  insert(operation: Operation, delegation: Delegation): Promise<Delegation>;
  /**
   * Deletes a delegation; a retried operation finds that its first attempt did.
   * @param check throws where it may not be deleted by the caller, to whom it may be as if there were none
   */
  delete(
    operation: Operation,
    id: string,
    check: (delegation: Delegation | undefined) => void,
  ): Promise<void>;
}

export function delegationStore(db: TenantDatabase<Tx>, quota: Pick<RowQuota, 'take'>): DelegationStore {
  return {
    async ofUser(tenantId, userId, now) {
      const rows = await db.inTenant(tenantId, (tx) =>
        tx.delegation.findMany({
          where: { tenantId, until: { gt: now }, OR: [{ delegatorId: userId }, { delegateId: userId }] },
          orderBy: { id: 'asc' },
          take: DELEGATIONS_LISTED_MAX,
        }),
      );
      return rows.map(toDelegation);
    },

    async find(tenantId, id) {
      const row = await db.inTenant(tenantId, (tx) =>
        tx.delegation.findUnique({ where: { tenantId_id: { tenantId, id } } }),
      );
      return row ? toDelegation(row) : undefined;
    },

    async insert(operation, delegation) {
      const { tenantId } = operation;
      return db.inTenant(tenantId, async (tx) => {
        const { id } = await runOnce(tx, operation, async () => {
          const { delegatorId, delegateId, createdAt } = delegation;
          // What is over is neither shown nor used again.
          await tx.delegation.deleteMany({ where: { tenantId, delegatorId, until: { lte: createdAt } } });
          // One writer at a time counts and adds, so that the quotas are exact; in one order, so that none waits for ever.
          for (const userId of [delegatorId, delegateId].sort())
            await lockUntilCommit(tx, `${tenantId}/workflow-delegations/${userId}`);
          const until = { gt: createdAt };
          const given = await tx.delegation.count({ where: { tenantId, delegatorId, until } });
          if (given >= DELEGATIONS_GIVEN_MAX) throw tooManyDelegations(given);
          const received = await tx.delegation.count({ where: { tenantId, delegateId, until } });
          if (received >= DELEGATIONS_RECEIVED_MAX) throw tooManyDelegationsReceived(received);
          quota.take(tenantId);
          const permissions = [...delegation.permissions];
          await tx.delegation.create({ data: { tenantId, ...delegation, permissions } });
          return { id: delegation.id };
        });
        const row = await tx.delegation.findUnique({ where: { tenantId_id: { tenantId, id } } });
        if (!row) throw delegationNotFound(id);
        return toDelegation(row);
      });
    },

    delete: (operation, id, check) =>
      db.inTenant(operation.tenantId, (tx) =>
        runOnce(tx, operation, async () => {
          const { tenantId } = operation;
          const row = await tx.delegation.findUnique({ where: { tenantId_id: { tenantId, id } } });
          check(row ? toDelegation(row) : undefined);
          const { count } = await tx.delegation.deleteMany({ where: { tenantId, id } });
          // Another request deleted it meanwhile.
          if (count === 0) throw delegationNotFound(id);
        }),
      ),
  };
}

/** The users in whose place a user may decide now. */
export const findDelegators = (
  tx: RawStatements,
  tenantId: string,
  delegateId: string,
  now: Date,
): Promise<Delegator[]> =>
  tx.$queryRawUnsafe<Delegator[]>(
    `SELECT delegator_id AS "userId", permissions FROM delegation
     WHERE tenant_id = $1::uuid AND delegate_id = $2 AND from_at <= $3::timestamptz AND until_at > $3::timestamptz
     ORDER BY id`,
    tenantId,
    delegateId,
    now,
  );

const toDelegation = (row: Delegation & { tenantId: string }): Delegation => ({
  id: row.id,
  delegatorId: row.delegatorId,
  delegatorName: row.delegatorName,
  permissions: row.permissions,
  delegateId: row.delegateId,
  from: row.from,
  until: row.until,
  createdAt: row.createdAt,
});
