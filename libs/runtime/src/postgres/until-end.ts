import type { PoolClient } from 'pg';

/**
 * A connection for as long as its transaction lasts. What goes on behind the end of the transaction, because another part
 * of its work failed or its client left, sends nothing more: others use the connection then, and its statements would be
 * part of their transactions.
 */
export function untilEnd(connection: PoolClient): { connection: PoolClient; end: () => void } {
  let hasEnded = false;
  const query = (...statement: Parameters<PoolClient['query']>): unknown =>
    hasEnded ? Promise.reject(new Error('The transaction has ended.')) : connection.query(...statement);
  return {
    connection: Object.assign(Object.create(connection) as PoolClient, { query }),
    end: () => void (hasEnded = true),
  };
}
