import { randomUUID } from 'node:crypto';
import type { EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { Messaging } from '@plinth/runtime/messaging/nats';
import {
  appendToOutbox,
  startOutboxRelay,
  wakingRelay,
  type OutboxRelay,
} from '@plinth/runtime/messaging/outbox';
import { TenantTurns } from '@plinth/runtime/messaging/tenant-turns';
import { storeWaiting } from '@plinth/runtime/messaging/waiting-events';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { createPool, type RawStatements, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { counted } from '@plinth/testing/counted-event';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { Client } from 'pg';

const log = silentLog();
const tenantId = newId();
/** Longer than a test, so that nothing happens but what it asks for. */
const NEVER_MILLISECONDS = 1_000_000;
const timing = {
  pollMilliseconds: NEVER_MILLISECONDS,
  reconcileMilliseconds: NEVER_MILLISECONDS,
  surveyMilliseconds: NEVER_MILLISECONDS,
};

let database: TestDatabase;
let pool: FairPool;
let db: TenantDatabase<RawStatements>;
let admin: Client;
/** Sees the transactions of other specs, which have the same server. */
let others: Client;
let messaging: Messaging;
const opened: Close[] = [];

const connected = async (connectionString = database.adminUrl): Promise<Client> => {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
};

/**
 * A database whose transactions wait for those of other databases that are open by then: Postgres numbers the transactions
 * of all databases together, and another spec may hold one as long as it likes.
 */
function afterOthers<Tx>(inner: TenantDatabase<Tx>): TenantDatabase<Tx> {
  const othersEnded = async () => {
    const before = await numbersOfOthers();
    await eventually(async () => (await numbersOfOthers()).every((number) => !before.includes(number)));
  };
  return {
    ...inner,
    inTenant: async (...of) => (await othersEnded(), inner.inTenant(...of)),
    inPlatform: async (...of) => (await othersEnded(), inner.inPlatform(...of)),
  };
}

async function numbersOfOthers(): Promise<string[]> {
  const { rows } = await others.query<{ number: string }>(
    `SELECT backend_xid::text AS number FROM pg_stat_activity
     WHERE backend_xid IS NOT NULL AND datname <> $1`,
    [new URL(database.url).pathname.slice(1)],
  );
  return rows.map(({ number }) => number);
}

beforeEach(async () => {
  database = await createTestDatabase('timeline');
  pool = createPool(database.url, log, { pipeline: true });
  others = await connected(infrastructure().postgresUrl);
  db = afterOthers(plainDatabase(pool));
  admin = await connected();
  // What the test itself asks reads no index.
  await admin.query(
    'SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off',
  );
  const config = {
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `held_${randomUUID()}`,
    EVENT_KEYS: TEST_KEYS,
  };
  messaging = await connectedMessaging(config);
  opened.push(messaging.close, () => pool.end());
});

afterEach(async () => {
  await closeAll(opened.splice(0), log);
  await Promise.all([admin.end(), others.end()]);
  await database.drop();
});

/** A transaction that does nothing, as an export whose reader is slow. */
async function holdTransaction(): Promise<void> {
  const holder = await connected();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT');
  opened.unshift(() => holder.end());
}

function startRelay(
  overrides: Partial<Parameters<typeof startOutboxRelay>[3]> = {},
  to = messaging,
  inDatabase = db,
) {
  const relay = startOutboxRelay(inDatabase, to, log, { ...timing, ...overrides });
  opened.unshift(relay.close);
  return relay;
}

const events = (count: number) =>
  Array.from({ length: count }, (_, position) => ({
    type: counted,
    tenantId,
    subject: `${position}`,
    payload: { counter: 'one', amount: 1, position, isPoison: false },
  }));

const publish = (relay: OutboxRelay, count: number) =>
  wakingRelay(db, relay).inTenant(tenantId, (tx) => appendToOutbox(tx, ...events(count)));

const countOf = async (condition: string): Promise<number> => {
  const { rows } = await admin.query(`SELECT count(*)::int AS count FROM outbox WHERE ${condition}`);
  return rows[0].count;
};
const allPublished = () => eventually(async () => (await countOf('published_at IS NULL')) === 0);

/** How many entries of an index were read, those of former rows too. */
async function entriesRead(index: string): Promise<number> {
  await closeAll(opened.splice(0), log);
  // What a session has read is counted when it ends.
  await eventually(async () => {
    const { rowCount } = await admin.query(
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return rowCount === 0;
  });
  const { rows } = await admin.query(
    'SELECT idx_tup_read::int AS count FROM pg_stat_user_indexes WHERE indexrelname = $1',
    [index],
  );
  return rows[0].count;
}

describe('while a transaction is held open', () => {
  it('the relay reads no event again that it published', async () => {
    await holdTransaction();
    const relay = startRelay();
    await publish(relay, 1_000);
    await allPublished();
    for (let written = 0; written < 20; written++) {
      await publish(relay, 1);
      await allPublished();
    }

    // A few times, until the place is known, and as the relay ends; without it each pass would read them all.
    expect(await entriesRead('outbox_unpublished')).toBeLessThan(8 * 1_000);
  });

  it('polls read no event again that was published for good', async () => {
    await holdTransaction();
    let polls = 0;
    const counting: typeof messaging = Object.create(messaging, {
      connecting: { get: () => void polls++ },
    });
    const relay = startRelay({ pollMilliseconds: 10 }, counting);
    await publish(relay, 1_000);
    await allPublished();
    const before = polls;
    await eventually(() => polls > before + 100);

    expect(await entriesRead('outbox_unpublished')).toBeLessThan(20 * 1_000);
  });

  it('reconciliation reads no event again that was confirmed', async () => {
    await holdTransaction();
    await admin.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload, published_at, check_at)
       SELECT $1, uuidv7(), $2, 'one', '{}', now(), now() - number * interval '1 second'
         + CASE number WHEN 0 THEN interval '1 day' ELSE '0' END FROM generate_series(0, 1000) AS number`,
      [tenantId, counted.name],
    );
    let passes = 0;
    const counting: typeof messaging = Object.create(messaging, {
      connecting: { get: () => void passes++ },
    });
    startRelay({ reconcileMilliseconds: 10 }, counting);
    await eventually(async () => (await countOf('check_at IS NOT NULL')) === 1);
    const before = passes;
    await eventually(() => passes > before + 100);

    expect(await entriesRead('outbox_unconfirmed')).toBeLessThan(10 * 1_000);
  });
});

describe('turns of a tenant at its waiting events, while a transaction is held open', () => {
  it('read no event again that was processed', async () => {
    const count = 1_000;
    await holdTransaction();
    await admin.query(
      `INSERT INTO waiting_event (tenant_id, consumer, event_id, name, envelope)
       SELECT $1, 'projection', id, $2, jsonb_build_object('tenantId', $1::uuid, 'id', id)
       FROM (SELECT uuidv7() AS id FROM generate_series(1, $3::int)) AS event`,
      [tenantId, counted.name, count],
    );
    const processed: string[] = [];
    // What it takes to find who waits, which is done less often; an event that was tried may have two entries.
    let passed = 0;
    const watched: typeof db = {
      ...db,
      inPlatform: (work) => {
        passed += 2 * processed.length + 1;
        return db.inPlatform(work);
      },
    };
    const turns = new TenantTurns('projection', [counted.name], watched, log, async (left, takeFrom) => {
      await watched.inTenant(tenantId, (tx) =>
        takeFrom(
          tx,
          left.map(({ event, deliveryCount }) => ({ ...event, deliveryCount })),
        ),
      );
      processed.push(...left.map(({ event }) => event.id));
      return left.length;
    });
    turns.start();
    await eventually(() => processed.length >= count);
    await turns.close();

    expect(processed).toEqual(processed.toSorted());
    expect(processed).toHaveLength(count);
    expect((await entriesRead('waiting_event_turns')) - passed).toBeLessThan(10 * count);
  });
});

describe('a transaction', () => {
  const [event] = events(1);
  const waiting = { id: newId(), name: counted.name, tenantId } as EventEnvelope;

  it.each([
    ['publishes an event', 'outbox_sequence_seq', (tx: RawStatements) => appendToOutbox(tx, event!)],
    ['publishes events', 'outbox_sequence_seq', (tx: RawStatements) => appendToOutbox(tx, event!, event!)],
    [
      'stores an event',
      'waiting_event_position_seq',
      (tx: RawStatements) => storeWaiting(tx, 'consumer', tenantId, [{ event: waiting, attempts: 0 }]),
    ],
  ])('that %s has a number before the event has its place', async (_name, sequence, write) => {
    // Of values that are taken ahead, the first one gives a number to its transaction anyway.
    await admin.query('SELECT nextval($1)', [sequence]);
    await admin.query(`BEGIN; ALTER SEQUENCE ${sequence} CACHE 1`);
    const written = db.inTenant(tenantId, write);
    let found: { isNumbered: boolean }[] = [];
    await eventually(async () => {
      // A transaction sees who is active as it did first.
      await admin.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await admin.query<{ isNumbered: boolean }>(
        `SELECT backend_xid IS NOT NULL AS "isNumbered" FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      found = rows;
      return rows.length > 0;
    });
    await admin.query('COMMIT');
    await written;
    expect(found).toEqual([{ isNumbered: true }]);
  });
});

describe('an event', () => {
  it('is published at once whose transaction began before later ones were published', async () => {
    const relay = startRelay();
    await publish(relay, 1);
    await allPublished();
    await wakingRelay(db, relay).inTenant(tenantId, async (tx) => {
      await appendToOutbox(tx, ...events(1));
      await tx.$queryRawUnsafe('SELECT');
      for (let written = 0; written < 2; written++) {
        await publish(relay, 1);
        await allPublished();
      }
    });

    await allPublished();
    expect(await countOf('true')).toBe(4);
  });

  it('is published with the next one where another relay was at it and failed', async () => {
    let passes = 0;
    const relay = startRelay({}, messaging, {
      ...db,
      inPlatform: async (work) => {
        const result = await db.inPlatform(work);
        passes++;
        return result;
      },
    });
    // It takes nothing by a pass that nobody waits for here.
    await eventually(() => passes === 1);
    await publish(relay, 1);
    await eventually(() => passes === 2);
    let fail!: () => void;
    const failed = new Promise<void>((_resolve, reject) => {
      fail = () => reject(new Error('This relay loses NATS.'));
    });
    failed.catch(() => undefined);
    let isAtIt = false;
    const failing: typeof messaging = Object.create(messaging, {
      check: { value: () => ((isAtIt = true), failed) },
    });
    const other = startRelay({}, failing);
    await publish(other, 1);
    await eventually(() => isAtIt);
    await publish(relay, 1);
    await eventually(() => passes === 3);
    fail();
    await other.close();
    expect(await countOf('published_at IS NULL')).toBe(1);

    await publish(relay, 1);

    await allPublished();
    expect(await countOf('true')).toBe(4);
  });
});

describe('events of a tenant of which few wait', () => {
  const other = newId();
  const MANY = 3_000;

  /** Has so many events of one tenant wait, and behind them some of another one; returns what is published, in its order. */
  async function manyBeforeFew() {
    await admin.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload)
       SELECT $1, uuidv7(), $2, 'one', '{}' FROM generate_series(1, $3::int)`,
      [tenantId, counted.name, MANY],
    );
    const few = events(5).map((event) => ({ ...event, tenantId: other }));
    await db.inTenant(other, (tx) => appendToOutbox(tx, ...few));
    const published: EventEnvelope[] = [];
    const recorded: typeof messaging = Object.create(messaging, {
      jetstream: {
        value: { publish: async (_subject: string, body: string) => published.push(JSON.parse(body)) },
      },
    });
    return { published, recorded };
  }
  const placeOfLast = (published: readonly EventEnvelope[]): number =>
    published.findLastIndex((event) => event.tenantId === other);
  const sequencesOf = (published: readonly EventEnvelope[], owner: string): number[] =>
    published.filter((event) => event.tenantId === owner).map(({ sequence }) => sequence);

  it('do not wait for all of another tenant, and each tenant’s stay in their order', async () => {
    const { published, recorded } = await manyBeforeFew();
    startRelay({}, recorded);
    await allPublished();

    expect(placeOfLast(published)).toBeLessThan(MANY / 4);
    for (const owner of [tenantId, other]) {
      const sequences = sequencesOf(published, owner);
      expect(sequences).toEqual(sequences.toSorted((one, next) => one - next));
    }
  });

  it('are published once, also where several relays look whose turn it is', async () => {
    const { published, recorded } = await manyBeforeFew();
    for (let relays = 0; relays < 3; relays++) startRelay({}, recorded);
    await allPublished();

    expect(new Set(published.map(({ id }) => id)).size).toBe(MANY + 5);
    expect(published).toHaveLength(MANY + 5);
    expect(placeOfLast(published)).toBeLessThan(MANY / 2);
  });
});
