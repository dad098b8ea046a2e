import pg, { type PoolClient, type QueryResult } from 'pg';
import type { RawStatements } from './postgres';
import { statementName } from './statement-names';

const { INT8, DATE, TIMESTAMP } = pg.types.builtins;
const toUtcDate = (text: string): Date => new Date(`${text}Z`);

/** Values as Prisma reads them: whole numbers of 64 bits without loss, and instants without a zone as UTC. */
const types = {
  getTypeParser(oid: number, format?: string) {
    if (format !== 'binary') {
      if (oid === INT8) return BigInt;
      if (oid === TIMESTAMP) return toUtcDate;
      if (oid === DATE) return (text: string) => new Date(text);
    }
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

/** Instants go out in UTC, for columns without a zone as well. */
const toParameter = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.map(toParameter) : value;
};

/** Runs a statement by its name, with parameters and results as in Prisma's raw statements. */
const runStatement = (
  connection: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult> =>
  connection.query({
    name: statementName(text),
    text,
    values: values.map(toParameter),
    types,
  } as pg.QueryConfig);

/** A connection as the functions see it that transactions with Prisma use too, such as the outbox. */
export function rawStatements(connection: PoolClient): RawStatements {
  const { pipeline } = connection as PoolClient & { pipeline?: boolean };
  let last: Promise<unknown> = Promise.resolve();
  // Without a pipeline a connection takes the next statement when it has answered the last.
  const run = (text: string, values: readonly unknown[]): Promise<QueryResult> => {
    if (pipeline) return runStatement(connection, text, values);
    const result = last.then(() => runStatement(connection, text, values));
    last = result.catch(() => undefined);
    return result;
  };
  return {
    $executeRawUnsafe: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    $queryRawUnsafe: async <Rows>(query: string, ...values: unknown[]) =>
      (await run(query, values)).rows as Rows,
  };
}
