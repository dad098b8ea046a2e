import type { RawStatements } from './postgres';
import type { PoolClient } from 'pg';

/** A batch's connection as the functions see it that a service's own transactions use too, such as the outbox. */
export const rawStatements = (connection: PoolClient): RawStatements => ({
  $executeRawUnsafe: async (query, ...values) => (await connection.query(query, values)).rowCount ?? 0,
  $queryRawUnsafe: async <Rows>(query: string, ...values: unknown[]) =>
    (await connection.query(query, values)).rows as Rows,
});
