import { setTimeout as pause } from 'node:timers/promises';
import { Problem, unavailable } from '@plinth/kernel/problem';
import { escapeLiteral, type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import { FairPool, type Scope } from './fair-pool';
import { undoingOnRollback } from './beside-transaction';
import { sendTogether } from './raw-statements';
import { ConfigurationError } from '../process/config';
import type { Log } from '../process/log';
import { untilEnd } from './until-end';

/** A statement that takes longer is cancelled, and a transaction that waits longer for its next statement is ended. */
const LIMITS_OF_REQUESTS = { statement_timeout: 15_000, idle_in_transaction_session_timeout: 60_000 };
const LIMITS_OF_BULK_WORK = { statement_timeout: 600_000, idle_in_transaction_session_timeout: 600_000 };

/**
 * A server that is lost with its machine closes no connection, and the kernel would go on sending to it for a quarter of an
 * hour. So a connection is closed where a transaction takes longer to begin, or a request's statement so much longer than
 * the server lets it. Where nothing is sent, the kernel asks the server after this time.
 */
const SILENCE_MILLISECONDS = 10_000;

/** Prisma sends instants without a zone; a server in another one would take them for its own. */
const UTC = '-c timezone=UTC';
/** How most transactions of requests are planned, so that they need not say it; see `Planning`. */
const PLANNED_ONCE = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off';

/** A tenant alone has ten of them, which is enough for all that it asks at once; ADR 0041 has the figures. */
const TENANT_CONNECTIONS = 14;
/**
 * For the four partitions of the inbox and its turn at stored events, which may wait for locks: a tenant has four of these
 * at most. The others are for the relay, for storing events, and for checks.
 */
const PLATFORM_CONNECTIONS = 8;

/** How long a connection takes at most; then its client knows better when to try again. */
const PATIENCE_MILLISECONDS = 5_000;

export interface PoolOptions {
  /** How many connections tenants share. */
  tenantConnections?: number;
  /** How many there are besides, for the platform's own work. */
  platformConnections?: number;
  /** How long a request waits for one of them. */
  patienceMilliseconds?: number;
  /**
   * Statements do not wait for the answers of those before them on their connection; see `readInTenant`. Such a
   * connection does not know `COPY`, which exports need.
   */
  pipeline?: boolean;
  /** Transactions may take longer than a request: ten minutes for a statement. */
  isForBulkWork?: boolean;
  /** How long a statement takes at most. */
  statementMilliseconds?: number;
  /** How long the server may be silent where it should answer at once. */
  silenceMilliseconds?: number;
}

/**
 * Opens a pool on a service's own database. It takes no role that row-level security does not bind: with one, every
 * statement fails.
 */
export function createPool(url: string, log: Log, options: PoolOptions = {}): FairPool {
  const limits = options.isForBulkWork ? LIMITS_OF_BULK_WORK : LIMITS_OF_REQUESTS;
  const {
    statementMilliseconds = limits.statement_timeout,
    silenceMilliseconds = SILENCE_MILLISECONDS,
    pipeline = false,
  } = options;
  const pool = new FairPool({
    tenantConnections: options.tenantConnections ?? TENANT_CONNECTIONS,
    platformConnections: options.platformConnections ?? PLATFORM_CONNECTIONS,
    patienceMilliseconds: options.patienceMilliseconds ?? PATIENCE_MILLISECONDS,
    silenceMilliseconds,
    verify: (connection, done) => {
      examine(connection, silenceMilliseconds).then(
        ({ isReadOnly }) => {
          if (isReadOnly) pool.closeAfterUse(connection);
          done();
        },
        (error: Error) => done(error),
      );
    },
    connectionString: url,
    options: pipeline ? `${UTC} ${PLANNED_ONCE}` : UTC,
    pipeline,
    connectionTimeoutMillis: PATIENCE_MILLISECONDS,
    idleTimeoutMillis: 30_000,
    ...limits,
    statement_timeout: statementMilliseconds,
    // It counts from the sending, that of the server from the beginning of each statement: a statement that waits behind
    // others of its pipeline may end before its own time is over. The end of a `COPY`, which a pipeline does not know, is
    // not noticed by this timer.
    ...(pipeline && { query_timeout: statementMilliseconds + silenceMilliseconds }),
    keepAlive: true,
    keepAliveInitialDelayMillis: silenceMilliseconds,
  });
  // Without these listeners a connection that breaks would end the process. The code that uses it learns of it from its
  // statements; an idle one is replaced by the pool.
  pool.on('connect', (connection) => {
    connection.on('error', () => undefined);
    onRefusedWrite(connection, () => pool.closeAfterUse(connection));
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection broke'));
  return pool;
}

/**
 * Fails when the role of these connections may step around row-level security, so that a process can end at its
 * start. While the database is away there is nothing to say.
 */
export async function refuseUnboundRole(pool: FairPool): Promise<void> {
  await pool.query('SELECT 1').catch((error: unknown) => {
    if (error instanceof ConfigurationError) throw error;
  });
}

/**
 * What a new connection leads to. A server that takes no writes lets read, and its connections are not kept: an address that
 * follows the primary leads there only until it is known who that is now.
 */
async function examine(
  connection: PoolClient,
  silenceMilliseconds: number,
): Promise<{ isReadOnly: boolean }> {
  const { rows } = await connection.query<{ name: string; isBound: boolean; isReadOnly: boolean }>(
    answeredSoon(
      { silenceMilliseconds },
      `SELECT rolname AS name, NOT (rolsuper OR rolbypassrls OR EXISTS (
                SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relkind IN ('r', 'p'))) AS "isBound",
              current_setting('transaction_read_only')::boolean AS "isReadOnly"
         FROM pg_roles WHERE rolname = current_user`,
    ),
  );
  const [role] = rows;
  if (role?.isBound) return role;
  throw new ConfigurationError(
    `The database role ${role?.name} is a superuser, bypasses row-level security or owns tables; use a role that does not.`,
  );
}

/** As a server says it that is a standby or was made read-only. */
const READ_ONLY = '25006';

/** A connection of `pg`, with what its server says in answer to anybody's statement. */
type Listening = PoolClient & {
  connection: { on(event: 'errorMessage', listener: (said: { code?: string }) => void): void };
};

/** Learns of it whoever has the connection, and whatever becomes of the failure. */
const onRefusedWrite = (connection: PoolClient, refused: () => void): void =>
  (connection as Listening).connection.on('errorMessage', ({ code }) => {
    if (code === READ_ONLY) refused();
  });

/**
 * Fails where the server takes no writes, and has the connection closed that says so. Of a server that does not respond
 * there is nothing to say.
 */
export async function requireWrites(pool: FairPool): Promise<void> {
  const statement = `DO $$ BEGIN
    IF current_setting('transaction_read_only')::boolean THEN
      RAISE read_only_sql_transaction USING MESSAGE = 'The server is read-only.';
    END IF;
  END $$`;
  await pool.query(answeredSoon(pool, statement)).catch((error: unknown) => {
    if (codesOf(error).includes(READ_ONLY)) throw error;
  });
}

/** The raw statements that every Prisma transaction client has. */
export interface RawStatements {
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe<Rows = unknown>(query: string, ...values: unknown[]): Promise<Rows>;
}

/**
 * How the raw statements of a transaction are planned, on a pool with `pipeline`. `once`: on each connection, by indexes
 * only, without looking at their values again. It is for transactions that insert rows and find others by their whole key,
 * which every plan does in the same way: such a statement takes longer to plan than to execute. Models are planned for
 * their values always.
 */
export type Planning = 'for-values' | 'once';

/** A service's database, entered only on behalf of a tenant. */
export interface TenantDatabase<Tx> {
  /**
   * Runs one transaction in which row-level security shows and takes only this tenant's rows. Repeated by itself
   * when Postgres breaks a deadlock or a serialization conflict, so `work` touches nothing but the transaction.
   */
  inTenant<Result>(
    tenantId: string,
    work: (tx: Tx) => Promise<Result>,
    planning?: Planning | undefined,
  ): Promise<Result>;
  /** The same for the platform's own background work, on tables that allow it: outbox, inbox, jobs. */
  inPlatform<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
}

const ATTEMPTS_MAX = 4;
/** The mean pause before a transaction that gave way to another is repeated the first time; it doubles with each. */
const CONFLICT_PAUSE_MILLISECONDS = 10;
/** What Postgres says of each statement behind one that failed in its transaction. */
const BEHIND_A_FAILURE = '25P02';

/** The same as `inTenant` for bulk work that Prisma has no words for: one `pg` connection in one transaction. */
export const inTenantConnection = <Result>(
  pool: FairPool,
  tenantId: string,
  work: (connection: PoolClient) => Promise<Result>,
  begin: Begin = 'BEGIN',
): Promise<Result> => inTransaction(pool, ['plinth.tenant_id', tenantId], work, { begin });

type Begin = 'BEGIN' | 'BEGIN READ ONLY';

export interface TransactionOptions {
  begin?: Begin;
  planning?: Planning | undefined;
  /** How long one of its statements waits for a lock at most; as long as it may take, where this does not say. */
  lockMilliseconds?: number;
}

/**
 * One transaction on one connection. On a pool with `pipeline` it begins in one message with its first statements, and
 * ends in one with its last. `sent` takes statements that nobody waits for: the transaction fails where one of them does.
 */
export const inTransaction = <Result>(
  pool: FairPool,
  scope: Scope,
  work: (connection: PoolClient, sent: Promise<unknown>[]) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> => undoingOnRollback(() => runTransaction(pool, scope, work, options));

async function runTransaction<Result>(
  pool: FairPool,
  scope: Scope,
  work: (connection: PoolClient, sent: Promise<unknown>[]) => Promise<Result>,
  options: TransactionOptions,
): Promise<Result> {
  const connection = await pool.connectFor(scope);
  const own = untilEnd(connection);
  let broken: Error | undefined;
  const sent: Promise<unknown>[] = [];
  try {
    const begun = sendTogether(connection, answeredSoon(pool, beginIn(pool, scope, options)));
    // Its failure is found at the end of the transaction. Until then nobody waits for it, which would end the process.
    begun.catch(() => undefined);
    sent.push(begun);
    if (!pool.options.pipeline) await begun;
    const result = await work(own.connection, sent);
    if (!pool.options.pipeline) await Promise.all(sent);
    own.end();
    const ended = sendTogether(connection, 'COMMIT');
    await Promise.all([...sent, ended]);
    return result;
  } catch (error) {
    own.end();
    const failures = [error, ...(await failuresOf(sent))];
    // To a server that is silent nothing more is said.
    broken = failures.find(isSilence);
    if (!broken)
      await connection.query('ROLLBACK').catch((away: Error) => {
        broken = away;
      });
    throw failures.find((one) => !codesOf(one).includes(BEHIND_A_FAILURE)) ?? error;
  } finally {
    connection.release(broken);
  }
}

/** As `pg` says it. */
const SILENCE = 'Query read timeout';
const isSilence = (error: unknown): error is Error => error instanceof Error && error.message === SILENCE;

/** A first statement, which no lock and no amount of work delays: where it is not answered, the server is gone. */
export const answeredSoon = (
  { silenceMilliseconds }: Pick<FairPool, 'silenceMilliseconds'>,
  text: string,
): QueryConfig => ({ text, query_timeout: silenceMilliseconds }) as QueryConfig;

const failuresOf = async (sent: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(sent)).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));

/** Has the statements that follow in a transaction planned for their values, however it began. */
export const PLAN_FOR_VALUES = 'SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = on';

function beginIn(
  { options: { pipeline } }: FairPool,
  [setting, value]: Scope,
  { begin = 'BEGIN', planning = 'for-values', lockMilliseconds }: TransactionOptions,
): string {
  const statements = [begin, `SET LOCAL ${setting} = ${escapeLiteral(value)}`];
  if (lockMilliseconds !== undefined) statements.push(`SET LOCAL lock_timeout = ${lockMilliseconds}`);
  if (pipeline && planning === 'for-values') statements.push(PLAN_FOR_VALUES);
  return statements.join('; ');
}

/**
 * Reads by one statement in a tenant, that finds rows by their keys. On a pool with `pipeline` the transaction goes out
 * in one piece, so that it takes one round trip. A statement with a name is planned once on each connection.
 */
export const readInTenant = <Row extends QueryResultRow>(
  pool: FairPool,
  tenantId: string,
  statement: QueryConfig,
): Promise<Row[]> => readOnce(pool, ['plinth.tenant_id', tenantId], statement);

/** The same for the platform's own background work, on tables that allow it. */
export const readInPlatform = <Row extends QueryResultRow>(
  pool: FairPool,
  statement: QueryConfig,
): Promise<Row[]> => readOnce(pool, ['plinth.scope', 'platform'], statement);

async function readOnce<Row extends QueryResultRow>(
  pool: FairPool,
  scope: Scope,
  statement: QueryConfig,
): Promise<Row[]> {
  const connection = await pool.connectFor(scope);
  let broken: Error | undefined;
  try {
    const [, { rows }] = await Promise.all([
      connection.query(
        answeredSoon(pool, beginIn(pool, scope, { begin: 'BEGIN READ ONLY', planning: 'once' })),
      ),
      connection.query<Row>(statement),
      connection.query('COMMIT'),
    ]);
    return rows;
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    // Of a transaction that failed, answers may still be on their way; the connection is closed, not used again.
    connection.release(broken);
  }
}

/** Repeats a transaction that Postgres gave up only because of others. */
export async function retryConflicts<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isRetryable(error)) throw error;
      // Those that met once would meet again.
      await pause(Math.random() * CONFLICT_PAUSE_MILLISECONDS * 2 ** attempt);
    }
  }
}

/** Whether Postgres gave up a transaction only because of others: serialization failure or deadlock. */
export const isRetryable = (error: unknown): boolean =>
  codesOf(error).some((code) => /^(40001|40P01|P2034)$/.test(code));

/** Whether a unique index refused the row. `constraint` narrows it to indexes or columns of that name. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!codesOf(error).some((code) => code === '23505' || code === 'P2002')) return false;
  return constraint === undefined || layersOf(error).some((layer) => tell(layer).includes(constraint));
}

/**
 * SQLSTATE classes and Prisma codes of a server that is busy, restarting or read-only for a while, or whose role just got
 * another password than this process has, which is replaced then.
 */
const BUSY = /^(08...|28P01|53...|57P..|40001|40P01|55P03|25006|P2034|P2028|P2024)$/;
const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|P1001|P1002|P1008|P1017)$/;
const CANCELLED_STATEMENT = '57014';

/**
 * Translates a failure of the database into a problem, or answers undefined for a bug of ours.
 * What the server said stays in `cause`.
 */
export function problemOfDatabase(error: unknown): Problem | undefined {
  const codes = codesOf(error);
  if (codes.includes(CANCELLED_STATEMENT))
    return unavailable('This took too long; try again, or ask for less.', error);
  if (codes.some((code) => BUSY.test(code)))
    return unavailable('The database is busy or restarting; try again.', error);
  const lost = layersOf(error).some(
    ({ message }) =>
      /Connection terminated|trying to connect|is not queryable/.test(String(message)) || message === SILENCE,
  );
  if (lost || codes.some((code) => UNREACHABLE.test(code))) {
    return unavailable('The database does not respond; try again.', error);
  }
  return undefined;
}

/**
 * The same of a request, whose values may also be what the database cannot store: then trying again does not help.
 */
export const problemOfRequest = (error: unknown): Problem | undefined =>
  problemOfDatabase(error) ?? (isTooLargeForIndex(error) ? tooLargeForIndex(error) : undefined);

const LIMIT_OF_SERVER = '54000';

/** Whether texts by which rows are found are, together and in bytes, more than an index holds. */
const isTooLargeForIndex = (error: unknown): boolean =>
  codesOf(error).includes(LIMIT_OF_SERVER) &&
  layersOf(error).some((layer) => /index row (size|requires)/.test(tell(layer)));

const tooLargeForIndex = (cause: unknown): Problem =>
  new Problem('invalid', 'Names or keys are too long together.', {
    title: 'One or more validation errors occurred.',
    errors: {},
    cause,
  });

interface Failure {
  code?: unknown;
  originalCode?: unknown;
  message?: unknown;
  constraint?: unknown;
  meta?: { driverAdapterError?: unknown } | undefined;
  cause?: unknown;
}

const codesOf = (error: unknown): string[] =>
  layersOf(error)
    .flatMap(({ code, originalCode }) => [code, originalCode])
    .filter((code) => typeof code === 'string');

/** Everything a layer says about itself, for finding the name of a constraint. */
const tell = ({ message, constraint, meta }: Failure): string => JSON.stringify([message, constraint, meta]);

/** A driver's error, and the errors that Prisma wraps around it. */
function layersOf(error: unknown): Failure[] {
  if (typeof error !== 'object' || error === null) return [];
  const failure = error as Failure;
  return [failure, ...layersOf(failure.cause), ...layersOf(failure.meta?.driverAdapterError)];
}
