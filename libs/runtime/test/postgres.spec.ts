import { once } from 'node:events';
import { Client } from 'pg';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { commitWithoutWaiting, keepWhatWasCommitted } from '@plinth/runtime/postgres/commit-without-waiting';
import {
  createPool,
  inTenantConnection,
  inTransaction,
  isUniqueViolation,
  problemOfDatabase,
  problemOfRequest,
  readInPlatform,
  readInTenant,
  refuseUnboundRole,
  requireWrites,
  type Planning,
  type RawStatements,
} from '@plinth/runtime/postgres/postgres';
import { onRollback } from '@plinth/runtime/postgres/beside-transaction';
import { rawStatements, send, sql } from '@plinth/runtime/postgres/raw-statements';
import { tenantDatabase } from '@plinth/runtime/postgres/tenant-database';
import { plainDatabase } from '@plinth/testing/plain-database';
import { ALL_BUT_TIMEOUTS } from '@plinth/testing/all-but';
import { startSilentProxy } from '@plinth/testing/silent-proxy';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';

let database: TestDatabase;
let pool: FairPool;
beforeAll(async () => {
  database = await createTestDatabase('settings');
  pool = createPool(database.url, silentLog(), { tenantConnections: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const failureOf = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
};

const INSERTION = `INSERT INTO setting_value (tenant_id, scope, user_id, name, value) VALUES ($1, 'tenant', '', $2, 'x')`;
const insert = (tenantId: string, name: string) =>
  inTenantConnection(pool, tenantId, (connection) => connection.query(INSERTION, [tenantId, name]));

describe('a transaction in a tenant', () => {
  it('sees its tenant only, and leaves nothing on the connection', async () => {
    const tenants = Array.from({ length: 20 }, () => newId());
    await Promise.all(tenants.map((tenantId) => insert(tenantId, 'a')));
    const seen = await Promise.all(
      tenants.map((tenantId) =>
        inTenantConnection(pool, tenantId, (connection) =>
          connection.query('SELECT tenant_id FROM setting_value'),
        ),
      ),
    );
    expect(seen.map(({ rows }) => rows)).toEqual(tenants.map((tenantId) => [{ tenant_id: tenantId }]));
    expect((await pool.query('SELECT * FROM setting_value')).rows).toEqual([]);
  });

  it('cannot write for another tenant', async () => {
    const work = inTenantConnection(pool, newId(), (connection) =>
      connection.query(
        `INSERT INTO setting_value (tenant_id, scope, user_id, name, value) VALUES ($1, 'tenant', '', 'a', 'x')`,
        [newId()],
      ),
    );
    await expect(work).rejects.toThrow('row-level security');
  });

  it('has what was done beside it undone where it fails, and only then', async () => {
    const tenantId = newId();
    let taken = 0;
    const taking = (text: string) =>
      inTenantConnection(pool, tenantId, async (connection) => {
        taken++;
        onRollback(() => void taken--);
        await connection.query(text);
      });

    await expect(taking('SELECT 1 / 0')).rejects.toThrow('division by zero');
    expect(taken).toBe(0);
    await taking('SELECT 1');
    expect(taken).toBe(1);
  });

  it('has it undone also where it is repeated after a conflict', async () => {
    const db = tenantDatabase<RawStatements>(pool, () => ({}) as never);
    let taken = 0;
    let attempts = 0;
    await db.inTenant(newId(), async (tx) => {
      taken++;
      onRollback(() => void taken--);
      if (attempts++ === 0) await tx.$executeRawUnsafe('DO $$ BEGIN RAISE serialization_failure; END $$');
    });
    expect([attempts, taken]).toEqual([2, 1]);
  });

  it('sends nothing more once it has ended, also where a part of its work goes on', async () => {
    const single = createPool(database.url, silentLog(), { tenantConnections: 1 });
    const tenantId = newId();
    const failed = Promise.withResolvers<void>();
    let rest: Promise<unknown> | undefined;
    const work = inTenantConnection(single, tenantId, (connection) => {
      rest = failed.promise.then(() => connection.query(INSERTION, [tenantId, 'rest']));
      return Promise.all([rest, Promise.reject(new Error('One part failed.'))]);
    });
    await expect(work).rejects.toThrow('One part failed.');

    const next = inTenantConnection(single, tenantId, async (connection) => {
      failed.resolve();
      await expect(rest).rejects.toThrow('has ended');
      return connection.query('SELECT name FROM setting_value');
    });
    expect((await next).rows).toEqual([]);
    await single.end();
  });

  it('tells a value that exists already from every other failure', async () => {
    const tenantId = newId();
    await insert(tenantId, 'a');
    const failure = await failureOf(insert(tenantId, 'a'));
    expect(isUniqueViolation(failure)).toBe(true);
    expect(isUniqueViolation(failure, 'setting_value_pkey')).toBe(true);
    expect(isUniqueViolation(failure, 'another_index')).toBe(false);
    expect(problemOfDatabase(failure)).toBeUndefined();
  });

  it('finds the columns of the index also in what Prisma tells', () => {
    const violation = Object.assign(new Error('Unique constraint failed'), {
      code: 'P2002',
      meta: {
        modelName: 'Change',
        driverAdapterError: Object.assign(new Error('UniqueConstraintViolation'), {
          cause: { originalCode: '23505', constraint: { fields: ['tenant_id', 'operation_id'] } },
        }),
      },
    });
    expect(isUniqueViolation(violation, 'operation_id')).toBe(true);
    expect(isUniqueViolation(violation, 'name')).toBe(false);
  });
});

describe.each([{ pipeline: false }, { pipeline: true }])(
  'a statement that nobody waits for (%o)',
  (options) => {
    let own: FairPool;
    beforeAll(() => {
      own = createPool(database.url, silentLog(), { tenantConnections: 1, ...options });
    });
    afterAll(() => own.end());

    const add = (tx: RawStatements, tenantId: string, name: string, scope = 'tenant') =>
      send(
        tx,
        sql`INSERT INTO setting_value (tenant_id, scope, user_id, name, value)
          VALUES (${tenantId}::uuid, ${scope}, '', ${name}, 'x')`,
      );
    const names = (tenantId: string) =>
      inTenantConnection(own, tenantId, (connection) => connection.query('SELECT name FROM setting_value'));

    it('is committed with its transaction', async () => {
      const tenantId = newId();
      await plainDatabase(own).inTenant(tenantId, async (tx) => {
        await add(tx, tenantId, 'a');
        await add(tx, tenantId, 'b');
      });
      expect((await names(tenantId)).rows).toEqual([{ name: 'a' }, { name: 'b' }]);
    });

    it('fails its transaction by its own error, whatever came behind it, and spares the connection', async () => {
      const tenantId = newId();
      const work = plainDatabase(own).inTenant(tenantId, async (tx) => {
        await add(tx, tenantId, 'a');
        await add(tx, tenantId, 'b', 'nowhere');
        await add(tx, tenantId, 'c');
        return tx.$queryRawUnsafe('SELECT 1');
      });
      await expect(work).rejects.toThrow('violates check constraint');
      expect((await names(tenantId)).rows).toEqual([]);
    });

    it('is rolled back where the work behind it fails', async () => {
      const tenantId = newId();
      const work = plainDatabase(own).inTenant(tenantId, async (tx) => {
        await add(tx, tenantId, 'a');
        throw new Error('changed its mind');
      });
      await expect(work).rejects.toThrow('changed its mind');
      expect((await names(tenantId)).rows).toEqual([]);
    });
  },
);

describe('a reading statement in a tenant', () => {
  const readNames = { name: 'read-names', text: 'SELECT tenant_id, name FROM setting_value WHERE name = $1' };
  const read = (from: FairPool, tenantId: string) =>
    readInTenant(from, tenantId, { ...readNames, values: ['a'] });

  it('sees its tenant only, also in one piece with others on the same connection, and leaves nothing there', async () => {
    const pipelined = createPool(database.url, silentLog(), { tenantConnections: 2, pipeline: true });
    const tenants = Array.from({ length: 20 }, () => newId());
    await Promise.all(tenants.map((tenantId) => insert(tenantId, 'a')));

    const seen = await Promise.all(tenants.map((tenantId) => read(pipelined, tenantId)));

    expect(seen).toEqual(tenants.map((tenantId) => [{ tenant_id: tenantId, name: 'a' }]));
    expect((await pipelined.query('SELECT * FROM setting_value')).rows).toEqual([]);
    await pipelined.end();
  });

  it('writes nothing, and spares those who come after it the connection on which it failed', async () => {
    const pipelined = createPool(database.url, silentLog(), { tenantConnections: 1, pipeline: true });
    const tenantId = newId();
    await insert(tenantId, 'a');

    const writes = readInTenant(pipelined, tenantId, { text: 'DELETE FROM setting_value' });
    await expect(writes).rejects.toThrow('read-only transaction');
    await expect(readInTenant(pipelined, 'no tenant', readNames)).rejects.toThrow();

    expect(await read(pipelined, tenantId)).toEqual([{ tenant_id: tenantId, name: 'a' }]);
    await pipelined.end();
  });
});

describe('a reading statement of the platform', () => {
  it('sees the rows of all tenants in tables that allow it, in no others, and leaves nothing on its connection', async () => {
    const pipelined = createPool(database.url, silentLog(), { tenantConnections: 1, pipeline: true });
    const tenants = [newId(), newId()].sort();
    const subject = newId();
    for (const tenantId of tenants) {
      await inTenantConnection(pipelined, tenantId, async (connection) => {
        await connection.query(
          `INSERT INTO setting_lock (tenant_id, scope, name, locked_by) VALUES ($1, 'tenant', 'a', 'somebody')`,
          [tenantId],
        );
        await connection.query(
          `INSERT INTO outbox (tenant_id, id, name, subject, payload) VALUES ($1, $2, 'test', $3, '{}')`,
          [tenantId, newId(), subject],
        );
      });
    }
    const text = 'SELECT tenant_id FROM outbox WHERE subject = $1 ORDER BY tenant_id';

    expect(await readInPlatform(pipelined, { text, values: [subject] })).toEqual(
      tenants.map((tenant_id) => ({ tenant_id })),
    );
    expect(await readInPlatform(pipelined, { text: 'SELECT FROM setting_lock' })).toEqual([]);
    expect((await pipelined.query(text, [subject])).rows).toEqual([]);
    await pipelined.end();
  });
});

describe('a transaction whose statements are planned once', () => {
  const text = 'SELECT name FROM setting_value WHERE tenant_id = $1::uuid AND name = $2';

  it('does not plan them for the values of each, and leaves that to others on its connection', async () => {
    const pipelined = createPool(database.url, silentLog(), { tenantConnections: 1, pipeline: true });
    const tenantId = newId();
    const read = (planning: Planning) =>
      inTransaction(
        pipelined,
        ['plinth.tenant_id', tenantId],
        (connection) => rawStatements(connection).$queryRawUnsafe(text, tenantId, 'a'),
        { planning },
      );
    for (const planning of ['once', 'for-values', 'once'] as const) await read(planning);

    const { rows } = await pipelined.query(
      `SELECT generic_plans::int AS once, custom_plans::int AS "for-values" FROM pg_prepared_statements
       WHERE statement = $1`,
      [text],
    );

    expect(rows).toEqual([{ once: 2, 'for-values': 1 }]);
    await pipelined.end();
  });
});

describe('a commit that does not wait', () => {
  it('is on disk when a transaction has ended that keeps what was committed', async () => {
    const db = plainDatabase(pool);
    const tenantId = newId();
    await db.inTenant(tenantId, async (tx) => {
      await commitWithoutWaiting(tx);
      await tx.$executeRawUnsafe(INSERTION, tenantId, 'a');
    });
    const { rows: written } = await pool.query('SELECT pg_current_wal_insert_lsn() AS place');

    await db.inTenant(tenantId, async (tx) => {
      // The servers of tests do not wait for the disk.
      await tx.$executeRawUnsafe('SET LOCAL synchronous_commit = on');
      await keepWhatWasCommitted(tx);
    });

    const { rows } = await pool.query('SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS "isOnDisk"', [
      written[0].place,
    ]);
    expect(rows).toEqual([{ isOnDisk: true }]);
  });
});

describe('a role that row-level security does not bind', () => {
  it('is refused at the start, and gets no statement through', async () => {
    const powerful = createPool(database.adminUrl, silentLog());

    await expect(refuseUnboundRole(powerful)).rejects.toThrow('is a superuser, bypasses row-level security');
    await expect(powerful.query('SELECT 1')).rejects.toThrow('row-level security');

    await powerful.end();
  });

  it('is distinguished from a database that is away, for which a process waits', async () => {
    const nowhere = createPool('postgres://nobody@127.0.0.1:1/none', silentLog());

    await expect(refuseUnboundRole(nowhere)).resolves.toBeUndefined();

    await nowhere.end();
  });
});

describe.each([{ pipeline: false }, { pipeline: true }])(
  'a server that takes no writes, as a primary that was replaced (%o)',
  (options) => {
    let own: TestDatabase;
    let single: FairPool;
    beforeEach(async () => {
      own = await createTestDatabase('settings');
      single = createPool(own.url, silentLog(), { tenantConnections: 1, platformConnections: 1, ...options });
    });
    afterEach(async () => {
      await single.end();
      await own.drop();
    });
    const administer = async (text: string) => {
      const options = '-c default_transaction_read_only=off';
      const admin = new Client({ connectionString: own.adminUrl, options });
      await admin.connect();
      await admin.query(text).finally(() => admin.end());
    };
    /** The sessions that begin from now on meet such a server, as behind an address that leads there. */
    const openReadOnly = (value: 'on' | 'off') =>
      administer(
        `ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET default_transaction_read_only = ${value}`,
      );
    /** Its server becomes one while the connection is open. */
    const turnReadOnly = () => single.query('SET default_transaction_read_only = on');
    const write = () =>
      inTenantConnection(single, newId(), (connection) =>
        connection.query('DELETE FROM setting_value RETURNING name'),
      );
    const sessionThatReads = async () => {
      const read = await readInTenant<{ id: number }>(single, newId(), {
        text: 'SELECT pg_backend_pid() AS id',
      });
      return read[0]!.id;
    };

    it('lets read, and is left for the one that its address leads to next', async () => {
      await openReadOnly('on');
      await sessionThatReads();
      expect(problemOfDatabase(await failureOf(write()))).toMatchObject({ kind: 'overloaded' });
      await sessionThatReads();
      await openReadOnly('off');

      await write();
      expect(await sessionThatReads()).toBe(await sessionThatReads());
    });

    it('is left after the first write that it refuses, whoever has the connection', async () => {
      await turnReadOnly();
      expect(problemOfDatabase(await failureOf(write()))).toMatchObject({ kind: 'overloaded' });
      await write();

      await turnReadOnly();
      const connection = await single.connect();
      await failureOf(connection.query('DELETE FROM setting_value'));
      connection.release();
      await write();
    });

    it('is what a check finds, which leaves it too', async () => {
      await requireWrites(single);

      await turnReadOnly();
      await expect(requireWrites(single)).rejects.toThrow('read-only');

      await requireWrites(single);
      await write();
    });

    it('is distinguished from one that does not respond', async () => {
      const nowhere = createPool('postgres://nobody@127.0.0.1:1/none', silentLog());
      await expect(requireWrites(nowhere)).resolves.toBeUndefined();
      await nowhere.end();
    });
  },
);

describe('a failure of the database', () => {
  it('is 503 when a statement takes too long, when the server goes away, and when none is there', async () => {
    const slow = await failureOf(
      inTenantConnection(pool, newId(), async (connection) => {
        await connection.query(`SET LOCAL statement_timeout = 50`);
        await connection.query('SELECT pg_sleep(5)');
      }),
    );
    const gone = await failureOf(pool.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    const longGone = await failureOf(
      inTenantConnection(pool, newId(), async (connection) => {
        await failureOf(connection.query('SELECT pg_terminate_backend(pg_backend_pid())'));
        await once(connection, 'end');
        await connection.query('SELECT 1');
      }),
    );
    const nowhere = createPool('postgres://nobody@127.0.0.1:1/none', silentLog());
    const absent = await failureOf(nowhere.query('SELECT 1'));
    await nowhere.end();

    for (const failure of [slow, gone, longGone, absent]) {
      expect(problemOfDatabase(failure)).toMatchObject({
        kind: 'overloaded',
        options: { retryAfterSeconds: 5 },
      });
    }
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  // On a busy machine an answer may come later than any short time for it.
  it.each([
    { pipeline: false, when: 'before', millisecondsMax: 10_000 },
    { pipeline: true, when: 'before', millisecondsMax: 10_000 },
    { pipeline: true, when: 'in', millisecondsMax: 25_000 },
  ])('ends a connection whose server was lost without a word $when a transaction (%o)', async (given) => {
    const { when, pipeline, millisecondsMax } = given;
    const proxy = await startSilentProxy(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const own = createPool(url.href, silentLog(), { pipeline, tenantConnections: 1 });
    let isLost = false;
    const lose = () => {
      proxy.lose();
      isLost = true;
    };
    const read = (before?: () => void) =>
      inTenantConnection(own, newId(), async (connection) => {
        await connection.query('SELECT 1');
        before?.();
        return connection.query('SELECT 1 AS one');
      });
    await read();

    if (when === 'before') lose();
    jest.useFakeTimers({ doNotFake: ALL_BUT_TIMEOUTS });
    try {
      const failure = failureOf(read(when === 'in' ? lose : undefined));
      // Until it has a connection, and waits for an answer.
      do await new Promise(setImmediate);
      while (!isLost || jest.getTimerCount() === 0);
      jest.advanceTimersByTime(millisecondsMax);
      expect(problemOfDatabase(await failure)).toMatchObject({ kind: 'overloaded' });
    } finally {
      jest.useRealTimers();
    }

    expect((await read()).rows).toEqual([{ one: 1 }]);
    await own.end();
    proxy.close();
  });

  it('is reported to the code that uses a connection that breaks between statements, and does not end the process', async () => {
    const broken = inTenantConnection(pool, newId(), async (connection) => {
      const ended = new Promise<void>((resolve) => connection.on('end', () => resolve()));
      const { rows } = await connection.query('SELECT pg_backend_pid() AS id');
      await pool.query('SELECT pg_terminate_backend($1)', [rows[0].id]);
      await ended;
    });

    expect(problemOfDatabase(await failureOf(broken))).toMatchObject({ kind: 'overloaded' });
  });

  it('is one of the request where its texts are too long for an index, and no outage', async () => {
    const tenantId = newId();
    const tooLong = plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$executeRawUnsafe(
        `INSERT INTO executed_operation (tenant_id, operation_id, result)
         SELECT $1::uuid, string_agg(md5(part::text), ''), 'null' FROM generate_series(1, 300) AS part`,
        tenantId,
      ),
    );

    const failure = await failureOf(tooLong);
    expect(problemOfRequest(failure)).toMatchObject({ kind: 'invalid' });
    expect(problemOfDatabase(failure)).toBeUndefined();
  });

  it('is 503 while the role has another password than the process, which is replaced then', () => {
    const refused = Object.assign(new Error('password authentication failed'), { code: '28P01' });
    expect(problemOfDatabase(refused)).toMatchObject({ kind: 'overloaded' });
  });

  it('is a bug when the statement is wrong', async () => {
    expect(problemOfDatabase(await failureOf(pool.query('SELECT nothing FROM nowhere')))).toBeUndefined();
  });
});
