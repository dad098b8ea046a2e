import { hasPublished, type OutboxRelay } from '@plinth/runtime/messaging/outbox';
import { answeredSoon, inTenantConnection, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { inTurn, rawStatements } from '@plinth/runtime/postgres/raw-statements';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { untilEnd } from '@plinth/runtime/postgres/until-end';
import type { PoolClient } from 'pg';

/** Where the rows of a service are written in bulk, and the relay that is woken when such a transaction published. */
export interface BulkDatabase {
  bulkPool: FairPool;
  outbox: Pick<OutboxRelay, 'wake'>;
}

/**
 * A running transaction: its connection, and the same connection for what transactions of requests use too. Statements
 * of both are executed in the order in which they are asked for.
 */
export interface BulkTransaction {
  connection: PoolClient;
  tx: RawStatements;
}

const transactionOn = (connection: PoolClient): BulkTransaction => ({
  connection: inTurn(connection),
  tx: rawStatements(connection),
});

/** Runs work in one transaction of a tenant, which may take longer than a request. */
export async function inBulkTransaction<Result>(
  { bulkPool, outbox }: BulkDatabase,
  tenantId: string,
  work: (transaction: BulkTransaction) => Promise<Result>,
): Promise<Result> {
  const { result, tx } = await inTenantConnection(bulkPool, tenantId, async (connection) => {
    const transaction = transactionOn(connection);
    return { result: await work(transaction), tx: transaction.tx };
  });
  if (hasPublished(tx)) outbox.wake();
  return result;
}

/** The same, left open until it is committed; `close` rolls back what is not. */
export async function openBulkTransaction({ bulkPool, outbox }: BulkDatabase, tenantId: string) {
  const connection = await bulkPool.connectFor(['plinth.tenant_id', tenantId]);
  const { connection: own, end } = untilEnd(connection);
  const transaction = transactionOn(own);
  let isOpen = true;
  const finish = async (statement: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    end();
    try {
      await connection.query(statement);
      connection.release();
    } catch (error) {
      connection.release(error as Error);
      if (statement === 'COMMIT') throw error;
    }
  };
  try {
    await connection.query(answeredSoon(bulkPool, 'BEGIN'));
    await connection.query('SELECT set_config($1, $2, true)', ['plinth.tenant_id', tenantId]);
  } catch (error) {
    end();
    connection.release(error as Error);
    throw error;
  }
  return {
    transaction,
    async commit() {
      await finish('COMMIT');
      if (hasPublished(transaction.tx)) outbox.wake();
    },
    close: () => finish('ROLLBACK'),
  };
}
