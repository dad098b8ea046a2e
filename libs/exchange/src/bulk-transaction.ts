import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import type { Pool, PoolClient } from 'pg';

/** Bulk work may take longer than a request. */
const LIMITS = `SET LOCAL statement_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = '10min'`;

/** Runs work in one transaction of a tenant that may take longer than a request. */
export const inBulkTransaction = <Result>(
  pool: Pool,
  tenantId: string,
  work: (connection: PoolClient) => Promise<Result>,
): Promise<Result> =>
  inTenantConnection(pool, tenantId, async (connection) => {
    await connection.query(LIMITS);
    return work(connection);
  });

/** The same, left open until it is committed; `close` rolls back what is not. */
export async function openBulkTransaction(pool: Pool, tenantId: string) {
  const connection = await pool.connect();
  let isOpen = true;
  const finish = async (statement: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    try {
      await connection.query(statement);
      connection.release();
    } catch (error) {
      connection.release(error as Error);
      if (statement === 'COMMIT') throw error;
    }
  };
  try {
    await connection.query('BEGIN');
    await connection.query('SELECT set_config($1, $2, true)', ['plinth.tenant_id', tenantId]);
    await connection.query(LIMITS);
  } catch (error) {
    await finish('ROLLBACK');
    throw error;
  }
  return { connection, commit: () => finish('COMMIT'), close: () => finish('ROLLBACK') };
}
