import { hasPublished, type RelayWaking } from '@plinth/runtime/messaging/outbox';
import { BesideOpenTransaction } from '@plinth/runtime/postgres/beside-transaction';
import { answeredSoon, inTransaction, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { inTurn, rawStatements } from '@plinth/runtime/postgres/raw-statements';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { untilEnd } from '@plinth/runtime/postgres/until-end';
import type { PoolClient } from 'pg';

/** Where the rows of a service are written in bulk, and the relay that is woken when such a transaction published. */
export interface BulkDatabase {
  bulkPool: FairPool;
  outbox: RelayWaking;
  /** How long a statement waits for a lock that another transaction holds; 5 s. */
  lockMilliseconds?: number;
}

/**
 * Whoever waits for rows has a place of a worker meanwhile, and an import of all rows or none may hold them for an hour. So
 * what can be tried again waits elsewhere: a batch or an undo that is not committed changes nothing.
 */
const LOCK_MILLISECONDS = 5_000;

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

/** Runs work in one transaction of a tenant, which may take longer than a request, but waits only briefly for locks. */
export async function inBulkTransaction<Result>(
  { bulkPool, outbox, lockMilliseconds = LOCK_MILLISECONDS }: BulkDatabase,
  tenantId: string,
  work: (transaction: BulkTransaction) => Promise<Result>,
): Promise<Result> {
  const place = outbox.place();
  let isPublished = false;
  try {
    const run = async (connection: PoolClient): Promise<Result> => {
      const transaction = transactionOn(connection);
      const result = await work(transaction);
      isPublished = hasPublished(transaction.tx);
      return result;
    };
    return await inTransaction(bulkPool, ['plinth.tenant_id', tenantId], run, { lockMilliseconds });
  } finally {
    // A commit whose answer was lost may have succeeded.
    if (isPublished) outbox.wake(place);
  }
}

/** The same, left open for more than one `run` until it is committed; `close` rolls back what is not. */
export async function openBulkTransaction({ bulkPool, outbox }: BulkDatabase, tenantId: string) {
  const connection = await bulkPool.connectFor(['plinth.tenant_id', tenantId]);
  const place = outbox.place();
  const { connection: own, end } = untilEnd(connection);
  const transaction = transactionOn(own);
  const beside = new BesideOpenTransaction();
  let isOpen = true;
  const finish = async (statement: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    end();
    try {
      await connection.query(statement);
      connection.release();
      if (statement === 'COMMIT') beside.committed();
      else void beside.rolledBack();
    } catch (error) {
      connection.release(error as Error);
      void beside.rolledBack();
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
    run: <Result>(work: (transaction: BulkTransaction) => Promise<Result>): Promise<Result> =>
      beside.run(() => work(transaction)),
    async commit() {
      try {
        await finish('COMMIT');
      } finally {
        if (hasPublished(transaction.tx)) outbox.wake(place);
      }
    },
    close: () => finish('ROLLBACK'),
  };
}
