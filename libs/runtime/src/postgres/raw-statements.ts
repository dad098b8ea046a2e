import type { Duplex } from 'node:stream';
import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { empty, join, raw, sqltag, type Sql } from '@prisma/client/runtime/client';
import type { RawStatements } from './postgres';
import { statementNames } from './statement-names';

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

/** Sends what is sent in one turn of the event loop as one piece, which saves both sides most of the work of a message. */
export function sendTogether(connection: PoolClient, statement: QueryConfig | string): Promise<QueryResult> {
  const { stream } = (connection as PoolClient & { connection: { stream: Duplex } }).connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return connection.query(statement as QueryConfig);
}

const nameOf = statementNames('plinth');

/** Runs a statement by its name, with parameters and results as in Prisma's raw statements. */
const runStatement = (
  connection: PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult> =>
  sendTogether(connection, {
    name: nameOf(text),
    text,
    values: values.map(toParameter),
    types,
  } as QueryConfig);

/** A statement with its values between its words, which travel as parameters. */
export const sql = sqltag;
/** Parts of statements, for use in `sql`. What `raw` takes is written by us, and never anything of a caller. */
export { empty, join, raw };
export type { Sql };

const sentOf = new WeakMap<RawStatements, Promise<unknown>[]>();

/**
 * Sends a statement whose answer nothing depends on. In a service's transaction this does not wait for it: the
 * transaction fails at its end where the statement did.
 */
export async function send(tx: RawStatements, query: string | Sql, ...values: unknown[]): Promise<void> {
  const { text, values: parameters } = typeof query === 'string' ? { text: query, values } : query;
  const executed = tx.$executeRawUnsafe(text, ...parameters);
  const sent = sentOf.get(tx);
  if (!sent) return void (await executed);
  // Its failure is found at the end of the transaction.
  executed.catch(() => undefined);
  sent.push(executed);
}

/**
 * Sends a statement whose rows only the result of the transaction depends on, so that the end of the transaction travels
 * with it: what follows from them is done after that.
 */
export function sendQuery<Rows>(tx: RawStatements, query: string, ...values: unknown[]): Promise<Rows> {
  const queried = tx.$queryRawUnsafe<Rows>(query, ...values);
  queried.catch(() => undefined);
  sentOf.get(tx)?.push(queried);
  return queried;
}

/** Has a transaction collect what is sent in it. */
export const collectSent = (tx: RawStatements, sent: Promise<unknown>[]): void => void sentOf.set(tx, sent);

const inTurnOf = new WeakMap<PoolClient, PoolClient>();

/**
 * The same connection, on which a statement waits for those before it: without a pipeline it takes the next one when it has
 * answered the last.
 */
export function inTurn(connection: PoolClient): PoolClient {
  const known = inTurnOf.get(connection);
  if (known) return known;
  let last: Promise<unknown> = Promise.resolve();
  const query = (statement: QueryConfig, values?: unknown[]): Promise<QueryResult> => {
    const result = last.then(() => connection.query(statement, values));
    last = result.catch(() => undefined);
    return result;
  };
  const ordered = Object.assign(Object.create(connection) as PoolClient, { query });
  inTurnOf.set(connection, ordered);
  return ordered;
}

/** A connection as the functions see it that transactions with Prisma use too, such as the outbox. */
export function rawStatements(connection: PoolClient): RawStatements {
  const { pipeline } = connection as PoolClient & { pipeline?: boolean };
  const ordered = pipeline ? connection : inTurn(connection);
  const run = (text: string, values: readonly unknown[]) => runStatement(ordered, text, values);
  return {
    $executeRawUnsafe: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    $queryRawUnsafe: async <Rows>(query: string, ...values: unknown[]) =>
      (await run(query, values)).rows as Rows,
  };
}
