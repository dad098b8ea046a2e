import { PrismaPg } from '@prisma/adapter-pg';
import { Sql, sqltag } from '@prisma/client/runtime/client';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Pool, type PoolClient, type QueryConfig } from 'pg';
import type { FairPool, Scope } from './fair-pool';
import {
  inTransaction,
  PLAN_FOR_VALUES,
  retryConflicts,
  type Planning,
  type RawStatements,
  type TenantDatabase,
} from './postgres';
import { withPatternsLoweredOnce } from './ignoring-case';
import { collectSent, rawStatements } from './raw-statements';
import { statementNames } from './statement-names';

/** A Prisma client, as far as transactions go. */
export interface Transactional<Tx> {
  $transaction<Result>(
    work: (tx: Tx) => Promise<Result>,
    options?: { maxWait?: number; timeout?: number },
  ): Promise<Result>;
}

/** The number of values in a list, and of rows, is in the text. */
const hasList = (text: string): boolean => /\bIN \(\$\d+,|\), ?\(\$\d+/.test(text);
const nameOfModelStatement = statementNames('plinth_model', (text) => !hasList(text));
const PRISMA_TRANSACTION = { maxWait: 5_000, timeout: 20_000 };

/**
 * Enters a service's database only on behalf of a tenant. A transaction is ours: it begins in the message of its first
 * statement, and raw statements go to the connection directly. Prisma joins it at the first use of a model.
 */
export function tenantDatabase<Tx extends RawStatements>(
  pool: FairPool,
  createClient: (adapter: PrismaPg) => Transactional<Tx>,
): TenantDatabase<Tx> {
  const prisma = createClient(
    new PrismaPg(new LendingPool(), { statementNameGenerator: ({ sql }) => nameOfModelStatement(sql) ?? '' }),
  );
  const within = <Result>(scope: Scope, work: (tx: Tx) => Promise<Result>, planning?: Planning) =>
    retryConflicts(() =>
      inTransaction(
        pool,
        scope,
        async (connection, sent) => {
          const models = new PrismaTransaction(prisma, connection, planning);
          try {
            const tx = transactionClient(connection, models);
            collectSent(tx, sent);
            return await work(tx);
          } finally {
            await models.end();
          }
        },
        { planning },
      ),
    );
  return {
    inTenant: (tenantId, work, planning) => within(['plinth.tenant_id', tenantId], work, planning),
    inPlatform: (work) => within(['plinth.scope', 'platform'], work),
  };
}

/** Prisma's part of a transaction, which most transactions do without. */
class PrismaTransaction<Tx> {
  private started: Promise<Tx> | undefined;
  private ended: Promise<void> | undefined;
  private finish = (): void => undefined;

  constructor(
    private readonly prisma: Transactional<Tx>,
    private readonly connection: PoolClient,
    private readonly planning: Planning | undefined,
  ) {}

  start(): Promise<Tx> {
    this.started ??= new Promise((resolve, reject) => {
      // Where it fails, so do the statements behind it.
      if (this.planning === 'once') this.connection.query(PLAN_FOR_VALUES).catch(() => undefined);
      const finished = new Promise<void>((finish) => {
        this.finish = finish;
      });
      const use = (tx: Tx): Promise<void> => {
        resolve(tx);
        return finished;
      };
      this.ended = lent.run(this.connection, () => this.prisma.$transaction(use, PRISMA_TRANSACTION));
      this.ended.catch(reject);
    });
    return this.started;
  }

  /** @throws where Prisma gave the transaction up because it took too long. */
  async end(): Promise<void> {
    this.finish();
    await this.ended;
  }
}

type RawTags = Record<
  '$queryRaw' | '$executeRaw',
  (query: TemplateStringsArray | Sql, ...values: unknown[]) => unknown
>;

/** What a service's transactions work with: Prisma's own client, but raw statements do not go through Prisma. */
function transactionClient<Tx extends RawStatements>(
  connection: PoolClient,
  models: PrismaTransaction<Tx>,
): Tx {
  const raw = rawStatements(connection);
  const statements: RawStatements & RawTags = {
    ...raw,
    $queryRaw(query, ...values) {
      const { text, values: parameters } = toSql(query, values);
      return raw.$queryRawUnsafe(text, ...parameters);
    },
    $executeRaw(query, ...values) {
      const { text, values: parameters } = toSql(query, values);
      return raw.$executeRawUnsafe(text, ...parameters);
    },
  };
  return new Proxy(statements as object, {
    get: (target, name) =>
      // A client that seemed to be a promise would be taken for one where it is awaited.
      name in target || typeof name === 'symbol' || name === 'then'
        ? Reflect.get(target, name)
        : modelOf(models, name),
  }) as Tx;
}

type Operations = Record<string | symbol, (...values: unknown[]) => Promise<unknown>>;

const modelOf = <Tx>(models: PrismaTransaction<Tx>, model: string): Operations =>
  new Proxy({} as Operations, {
    get:
      (_, operation) =>
      async (...values: unknown[]) => {
        const tx = (await models.start()) as Record<string, Operations>;
        return tx[model]![operation]!(...values);
      },
  });

const toSql = (query: TemplateStringsArray | Sql, values: readonly unknown[]): Sql =>
  query instanceof Sql ? query : sqltag(query, ...values);

const lent = new AsyncLocalStorage<PoolClient>();
const nothing = { fields: [], rows: [], rowCount: 0 };
const TRANSACTION_CONTROL = /^(BEGIN|COMMIT|ROLLBACK)$/;

/** A pool without connections of its own. It lends Prisma the one of the transaction that runs, which ends without it. */
class LendingPool extends Pool {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the interface of `pg` has more than Prisma uses
  override connect(): any {
    const connection = lent.getStore();
    if (!connection) return Promise.reject(new Error('Prisma was used outside of a transaction.'));
    return Promise.resolve({
      query: (statement: QueryConfig) =>
        TRANSACTION_CONTROL.test(statement.text)
          ? Promise.resolve(nothing)
          : connection.query({ ...statement, text: withPatternsLoweredOnce(statement.text) }),
      on: () => undefined,
      removeListener: () => undefined,
      release: () => undefined,
    });
  }
}
