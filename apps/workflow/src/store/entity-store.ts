import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import { rawStatements } from '@plinth/conventions/exchange/raw-statements';
import type { OutboxRelay } from '@plinth/runtime/outbox';
import {
  inTenantConnection,
  isUniqueViolation,
  type RawStatements,
  type TenantDatabase,
} from '@plinth/runtime/postgres';
import type { Pool } from 'pg';
import type { Change } from '../domain/change';
import type { Prisma } from '../generated/client';
import { commitChange, readEntity } from './entity-statements';
import type { Commit, EntityKey, SeenEntity } from './seen-entity';

export interface OperationResult {
  outcome: TransitionOutcome;
  resultingState: string;
}

export interface EntityStore {
  read(key: EntityKey, reader: { userId: string; now: Date }): Promise<SeenEntity>;
  /**
   * What an operation was answered the first time. `ownerMoveId` is the move that it would have made an owner make,
   * which counts also where the answer was lost.
   */
  findOperation(
    tenantId: string,
    operationId: string,
    ownerMoveId?: string,
  ): Promise<OperationResult | undefined>;
  /** Forgets operations that nobody repeats any more; answers how many. */
  forgetOperationsBefore(moment: Date): Promise<number>;
  /** Writes a change if the entity is still as it was seen: state, history, request, facts and operation at once. */
  commit(
    tenantId: string,
    seen: SeenEntity,
    change: Change,
    operation?: { id: string; result: OperationResult },
  ): Promise<Commit>;
}

/**
 * Every transition of every entity goes through here, so its statements are written by hand and sent by `pg` itself:
 * a transaction costs a fifth of what it costs through Prisma.
 */
export function entityStore(
  pool: Pool,
  db: TenantDatabase<Prisma.TransactionClient>,
  outbox: Pick<OutboxRelay, 'wake'>,
): EntityStore {
  const inTenant = <Result>(tenantId: string, work: (tx: RawStatements) => Promise<Result>) =>
    inTenantConnection(pool, tenantId, (connection) => work(rawStatements(connection)));

  return {
    read: (key, reader) => inTenant(key.tenantId, (tx) => readEntity(tx, key, reader)),

    findOperation: (tenantId, operationId, ownerMoveId) =>
      db.inTenant(tenantId, async (tx) => {
        const done = await tx.operation.findUnique({
          where: { tenantId_operationId: { tenantId, operationId } },
        });
        if (done) return { outcome: done.outcome as TransitionOutcome, resultingState: done.resultState };
        const made =
          ownerMoveId &&
          (await tx.move.findUnique({ where: { tenantId_ownerMoveId: { tenantId, ownerMoveId } } }));
        return made ? { outcome: 'Completed', resultingState: made.newState } : undefined;
      }),

    forgetOperationsBefore: async (moment) =>
      (await db.inPlatform((tx) => tx.operation.deleteMany({ where: { doneAt: { lt: moment } } }))).count,

    async commit(tenantId, seen, change, operation) {
      try {
        const commit = await inTenant(tenantId, async (tx) => {
          const result = await commitChange(tx, tenantId, seen, change);
          if (result === 'committed' && operation) await noteOperation(tx, tenantId, operation, change.at);
          return result;
        });
        if (commit === 'committed') outbox.wake();
        return commit;
      } catch (error) {
        // Another attempt at the same operation or vote was faster.
        if (isUniqueViolation(error)) return 'changed';
        throw error;
      }
    },
  };
}

const noteOperation = (
  tx: RawStatements,
  tenantId: string,
  { id, result }: { id: string; result: OperationResult },
  at: Date,
): Promise<number> =>
  tx.$executeRawUnsafe(
    `INSERT INTO operation (tenant_id, operation_id, outcome, result_state, done_at)
     VALUES ($1::uuid, $2, $3, $4, $5::timestamptz)`,
    tenantId,
    id,
    result.outcome,
    result.resultingState,
    at,
  );
