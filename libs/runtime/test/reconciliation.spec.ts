import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { jetstreamManager } from '@nats-io/jetstream';
import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { consumerNameOf, ensureStream, type Messaging } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { measureStream } from '@plinth/runtime/messaging/stream-metrics';
import { createPool } from '@plinth/runtime/postgres/postgres';
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
import { z } from 'zod';

const log = silentLog();
const tenantId = newId();
const timing = {
  pollMilliseconds: 20,
  reconcileMilliseconds: 50,
  surveyMilliseconds: 50,
  confirmSeconds: 1,
};

let database: TestDatabase;
let db: ReturnType<typeof plainDatabase>;
let admin: Client;
let messaging: Messaging;
const opened: Close[] = [];

beforeEach(async () => {
  database = await createTestDatabase('timeline');
  const pool = createPool(database.url, log);
  db = plainDatabase(pool);
  admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  messaging = await connectedMessaging({
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `reconciliation_${randomUUID()}`,
    EVENT_KEYS: TEST_KEYS,
  });
  opened.push(messaging.close, () => pool.end());
});

afterEach(async () => {
  await closeAll(opened.splice(0), log);
  await admin.end();
  await database.drop();
});

const publish = (...counters: string[]) =>
  db.inTenant(tenantId, (tx) =>
    appendToOutbox(
      tx,
      ...counters.map((counter) => ({
        type: counted,
        tenantId,
        subject: counter,
        payload: { counter, amount: 1, position: 0, isPoison: false },
      })),
    ),
  );

const consume = async (consumer: string): Promise<string[]> => {
  const received: string[] = [];
  const subscriptions = [
    subscription(counted, async (_tx, { payload }) => {
      received.push(payload.counter);
    }),
  ];
  opened.unshift(await consumeEvents(consumer, subscriptions, db, messaging, log));
  return received;
};

/** Nothing is asked for within a test. */
const unconfirmed = { ...timing, confirmSeconds: 1_000 };

/** Resolves when a relay has found who subscribes, and has everything asked for again on their behalf, but later. */
const subscriptionsKnown = async (count: number) => {
  const relay = startOutboxRelay(db, messaging, log, unconfirmed);
  await eventually(async () => {
    const { rowCount } = await admin.query('SELECT FROM event_subscription WHERE rechecked_to IS NULL');
    return rowCount === count;
  });
  await relay.close();
};

/** Resolves when all events are published and every consumer that there is has them. */
const settled = () =>
  eventually(async () => {
    const { rows } = await admin.query(
      'SELECT count(*)::int AS open FROM outbox WHERE published_at IS NULL OR check_at IS NOT NULL',
    );
    return rows[0].open === 0;
  });

/** What this consumer has; an event is received a moment before its effect is committed. */
const forgetInbox = async (count: number) => {
  await eventually(async () => (await admin.query('SELECT FROM inbox')).rowCount === count);
  await admin.query('DELETE FROM inbox');
};

const loseStream = async () =>
  (await jetstreamManager(messaging.connection)).streams.delete(messaging.prefix);

describe('a full stream of events', () => {
  it('drops its oldest ones, which are published again to whom they did not reach', async () => {
    const bounded = await connectedMessaging({
      NATS_URL: infrastructure().natsUrl,
      NATS_PREFIX: `full_${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
      NATS_STREAM_BYTES_MAX: 8_192,
    });
    opened.push(bounded.close);
    messaging = bounded;
    const { streams } = await jetstreamManager(messaging.connection);
    expect((await streams.info(messaging.prefix)).config).toMatchObject({ max_bytes: 8_192, discard: 'old' });
    const received = await consume('projection');
    await subscriptionsKnown(1);
    // The consumer is away.
    await opened.shift()!();
    const counters = Array.from({ length: 40 }, (_, at) => `event-${at}`);
    const relay = startOutboxRelay(db, messaging, log, timing);
    opened.unshift(relay.close);
    await publish(...counters);
    await eventually(async () => {
      const { rowCount } = await admin.query('SELECT FROM outbox WHERE published_at IS NULL');
      return rowCount === 0;
    });
    expect((await streams.info(messaging.prefix)).state.messages).toBeLessThan(40);
    const metrics = new Registry();
    measureStream(metrics, messaging);
    expect(await metrics.metrics()).toMatch(/^plinth_event_stream_fill 0\.\d+$/m);

    const returned = await consume('projection');

    await eventually(() => received.length + returned.length === 40);
    expect([...received, ...returned].toSorted()).toEqual(counters.toSorted());
  });
});

describe('a consumer that starts', () => {
  it('removes what is too old in its inbox without being there for an hour', async () => {
    await admin.query(
      `INSERT INTO inbox (tenant_id, consumer, event_id, applied_at)
       VALUES ($1, 'projection', $2, now() - interval '31 days')`,
      [tenantId, newId()],
    );

    await consume('projection');

    await eventually(async () => (await admin.query('SELECT FROM inbox')).rowCount === 0);
  });
});

describe('reconciliation', () => {
  it('brings what a lost stream had to a consumer that was made while no publisher ran', async () => {
    const relay = startOutboxRelay(db, messaging, log, timing);
    await publish('early');
    await settled();
    await relay.close();
    await loseStream();
    await ensureStream(messaging);

    const received = await consume('projection');
    opened.unshift(startOutboxRelay(db, messaging, log, timing).close);

    await eventually(() => received.length > 0);
    expect(received).toEqual(['early']);
  });

  it('asks nobody about a kind of event that nobody subscribes to, until somebody does', async () => {
    const received = await consume('projection');
    const other = eventType('chaos.other', z.object({}));
    await subscriptionsKnown(1);
    const relay = startOutboxRelay(db, messaging, log, unconfirmed);
    await db.inTenant(tenantId, (tx) =>
      appendToOutbox(tx, { type: other, tenantId, subject: 'one', payload: {} }),
    );
    await publish('wanted');
    await eventually(() => received.length > 0);
    await relay.close();
    const { rows } = await admin.query(
      'SELECT name, check_at IS NOT NULL AS is_open FROM outbox ORDER BY sequence',
    );
    expect(rows).toEqual([
      { name: 'chaos.other', is_open: false },
      { name: 'chaos.counted', is_open: true },
    ]);

    await loseStream();
    const late: string[] = [];
    const lateSubscription = subscription(other, async (_tx, _payload) => void late.push('other'));
    await ensureStream(messaging);
    opened.unshift(await consumeEvents('late', [lateSubscription], db, messaging, log));
    opened.unshift(startOutboxRelay(db, messaging, log, timing).close);
    await eventually(() => late.length > 0);

    expect(late).toEqual(['other']);
  });

  it('has few long events in memory at a time, also where it publishes them again', async () => {
    const count = 12;
    const received = await consume('projection');
    await subscriptionsKnown(1);
    await admin.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload)
       SELECT $1, uuidv7(), $2, 'one', jsonb_build_object('counter', number::text, 'amount', 1, 'position', 0,
         'isPoison', false, 'rest', repeat('x', 900000)) FROM generate_series(1, $3) AS number`,
      [tenantId, counted.name, count],
    );
    let lengthMax = 0;
    const watched: typeof db = {
      ...db,
      inPlatform: (work) =>
        db.inPlatform((tx) => {
          const $queryRawUnsafe = async <Rows>(query: string, ...values: unknown[]): Promise<Rows> => {
            const rows = await tx.$queryRawUnsafe<{ payload?: object }[]>(query, ...values);
            const lengths = rows.map(({ payload }) => JSON.stringify(payload ?? '').length);
            lengthMax = Math.max(
              lengthMax,
              lengths.reduce((sum, length) => sum + length, 0),
            );
            return rows as Rows;
          };
          return work(Object.assign(Object.create(tx) as typeof tx, { $queryRawUnsafe }));
        }),
    };
    const relay = startOutboxRelay(watched, messaging, log, { ...timing, reconcileMilliseconds: 100_000 });
    await eventually(() => received.length === count);
    await relay.close();
    await forgetInbox(count);
    opened.unshift(startOutboxRelay(watched, messaging, log, timing).close);
    await settled();
    // A consumer also has what it stored until the turn of its tenant.
    await eventually(() => received.length >= 2 * count);

    expect(received.toSorted()).toEqual(
      [...received.slice(0, count), ...received.slice(0, count)].toSorted(),
    );
    expect(lengthMax).toBeGreaterThan(900_000);
    expect(lengthMax).toBeLessThan(6_000_000);
  });

  it('waits, before it asks for what is newly subscribed to, for relays that do not know of it', async () => {
    await consume('projection');
    const publisher = new Client({ connectionString: database.adminUrl });
    await publisher.connect();
    await publisher.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(hashtext('outbox subscriptions'))`);
    await publisher.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload, published_at)
       VALUES ($1, uuidv7(), $2, 'counter', '{}', now())`,
      [tenantId, counted.name],
    );
    opened.unshift(startOutboxRelay(db, messaging, log, unconfirmed).close);
    await eventually(async () => {
      const { rowCount } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
      return rowCount! > 0;
    });
    await publisher.query('COMMIT');
    await publisher.end();
    await subscriptionsKnown(1);

    const { rows } = await admin.query('SELECT check_at IS NOT NULL AS is_open FROM outbox');

    expect(rows).toEqual([{ is_open: true }]);
  });

  it('asks for what is newly subscribed to in parts, however much was published before', async () => {
    const count = 25_000;
    await consume('projection');
    // As a time limit of statements does, whatever the machine is like.
    await admin.query(`
      INSERT INTO outbox (tenant_id, id, name, subject, payload, published_at, occurred_at)
        SELECT '${tenantId}', uuidv7(), '${counted.name}', 'counter', '{}', now(), now() - at * interval '1 ms'
        FROM generate_series(1, ${count}) AS at;
      CREATE FUNCTION require_few() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM written) > ${count / 2} THEN RAISE 'too much for one statement'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER few AFTER UPDATE ON outbox REFERENCING NEW TABLE AS written
        FOR EACH STATEMENT EXECUTE FUNCTION require_few();`);
    opened.unshift(startOutboxRelay(db, messaging, log, unconfirmed).close);

    await subscriptionsKnown(1);

    const { rows } = await admin.query('SELECT count(*)::int AS open FROM outbox WHERE check_at IS NOT NULL');
    expect(rows).toEqual([{ open: count }]);
  });

  it('deletes what has expired also while NATS is away', async () => {
    await admin.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload, published_at, occurred_at)
       VALUES ($1, uuidv7(), $2, 'counter', '{}', now(), now() - interval '30 days')`,
      [tenantId, counted.name],
    );
    const away = { ...messaging, check: () => Promise.reject(new Error('NATS is away')) };

    opened.unshift(startOutboxRelay(db, away, log, timing).close);

    await eventually(async () => (await admin.query('SELECT FROM outbox')).rowCount === 0);
  });

  it('concludes nothing while the stream is gone', async () => {
    const relay = startOutboxRelay(db, messaging, log, { ...timing, reconcileMilliseconds: 100_000 });
    await publish('late');
    await eventually(async () => {
      const { rowCount } = await admin.query('SELECT FROM outbox WHERE published_at IS NOT NULL');
      return rowCount! > 0;
    });
    await relay.close();
    await loseStream();
    await admin.query('UPDATE outbox SET check_at = now()');
    let checks = 0;
    const watched = { ...messaging, check: () => (checks++, messaging.check()) };
    const during = startOutboxRelay(db, watched, log, timing);
    await eventually(() => checks > 1);
    await during.close();

    const { rows } = await admin.query('SELECT check_at IS NOT NULL AS is_open FROM outbox');

    expect(rows).toEqual([{ is_open: true }]);
  });

  it('publishes again what a database forgot, however soon others say that they miss nothing', async () => {
    const received = await consume('projection');
    const other = subscription(eventType('chaos.other', z.object({})), async () => undefined);
    opened.unshift(await consumeEvents('other', [other], db, messaging, log));
    await subscriptionsKnown(2);
    const relay = startOutboxRelay(db, messaging, log, { ...timing, reconcileMilliseconds: 100_000 });
    await publish('forgotten');
    await eventually(() => received.length > 0);
    await relay.close();
    await forgetInbox(1);
    opened.unshift(startOutboxRelay(db, messaging, log, timing).close);

    await settled();

    expect(received).toEqual(['forgotten', 'forgotten']);
  });

  it('asks again for all that a consumer wants which was deleted and made again', async () => {
    const received = await consume('projection');
    await subscriptionsKnown(1);
    opened.unshift(startOutboxRelay(db, messaging, log, timing).close);
    await publish('once');
    await settled();
    const manager = await jetstreamManager(messaging.connection);
    const { rows: before } = await admin.query('SELECT created_at FROM event_subscription');
    await manager.consumers.delete(messaging.prefix, consumerNameOf('projection', counted.name));

    await eventually(async () => {
      const { rows } = await admin.query(
        'SELECT created_at FROM event_subscription WHERE rechecked_to IS NULL',
      );
      return rows.length === 1 && rows[0].created_at > before[0].created_at;
    });
    await settled();

    expect(received).toEqual(['once']);
  });

  it('reads no more than what is asked for, however many events there were before', async () => {
    const before = 10_000;
    await admin.query(`
      INSERT INTO outbox (tenant_id, id, name, subject, payload, published_at)
        SELECT '${tenantId}', uuidv7(), 'chaos.earlier', 'counter', '{}', now() FROM generate_series(1, ${before});
      INSERT INTO inbox (tenant_id, consumer, event_id) SELECT tenant_id, 'projection', id FROM outbox;
      ANALYZE inbox;
      SET enable_seqscan = off`);
    await publish(...Array.from({ length: 500 }, (_, number) => `counter-${number % 50}`));
    const received = await consume('projection');
    const relay = startOutboxRelay(db, messaging, log, { ...timing, reconcileMilliseconds: 100_000 });
    await eventually(() => received.length === 500);
    await relay.close();
    opened.unshift(startOutboxRelay(db, messaging, log, timing).close);
    await settled();
    await closeAll(opened.splice(0), log);
    // What a session has read is counted when it ends.
    await eventually(async () => {
      const { rowCount } = await admin.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      return rowCount === 0;
    });

    const { rows } = await admin.query(
      `SELECT relname AS name, seq_tup_read::int AS rows FROM pg_stat_user_tables
       WHERE relname IN ('outbox', 'inbox') ORDER BY relname`,
    );

    // The inbox is filled from the outbox above, and the new subscription has everything asked for once.
    expect(rows[0]).toEqual({ name: 'inbox', rows: 0 });
    expect(rows[1].rows).toBeLessThan(3 * before);
  });
});
