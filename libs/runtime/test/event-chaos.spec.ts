import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { subjectOf } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { seededRandom } from '@plinth/testing/seeded-random';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { build } from 'esbuild';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { Client } from 'pg';
import { counted } from '@plinth/testing/counted-event';
import { plainDatabase } from '@plinth/testing/plain-database';

/** `npm run events -- chaos` runs it with 100,000. */
const EVENTS = Number(process.env['CHAOS_EVENTS'] ?? 2_000);
const DUPLICATES = 0.05;
const POISON = 0.01;
const SHUFFLE_WINDOW = 1_000;
const COUNTERS = 50;
const BATCH = 100;
/** Short, so that a small run on a fast machine is not over before anybody was killed. */
const FIRST_LIFE_MILLISECONDS = 200;
const LIFE_MILLISECONDS_MAX = 5_000;
/** So often is each process killed at least; more often for as long as there are new events. */
const KILLS_MIN = 2;
/** A bound for what hangs. */
const CONVERGENCE_MILLISECONDS_MAX = 600_000;

type Counted = PayloadOf<typeof counted>;

const random = seededRandom(20_261_121);
const tenants = [newId(), newId(), newId()];
const natsPrefix = `chaos_${newId().replaceAll('-', '')}`;
const bundle = join(__dirname, '../../../node_modules/.cache/events/chaos-process.cjs');

let database: TestDatabase;
let admin: Client;
let pool: FairPool;
let nats: NatsConnection;

beforeAll(async () => {
  database = await createTestDatabase('timeline');
  admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  const role = new URL(database.url).username;
  await admin.query(`
    CREATE TABLE projection (tenant_id uuid, counter text, received int, total bigint, latest int, PRIMARY KEY (tenant_id, counter));
    GRANT ALL ON projection TO ${role};
    CREATE INDEX ON outbox (sequence);`);
  pool = createPool(database.url, silentLog());
  nats = await connect({ servers: infrastructure().natsUrl });
  await build({
    entryPoints: [join(__dirname, 'chaos-process.ts')],
    outfile: bundle,
    tsconfig: join(__dirname, '../../../tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    // One file starts several times as fast as a tree of packages, and this one starts again and again.
    external: ['pg-native'],
    logLevel: 'silent',
  });
});

afterAll(async () => {
  await (await jetstreamManager(nats)).streams.delete(natsPrefix);
  await nats.close();
  await pool.end();
  await admin.end();
  await database.drop();
});

/** Keeps one process of a role running and kills it again and again, in the middle of whatever it does. */
function keepKilling(role: 'relay' | 'consumer') {
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let kills = 0;
  let hasLast = false;
  let stopped = false;
  const live = (): void => {
    child = spawn(process.execPath, [bundle, role, database.url, infrastructure().natsUrl, natsPrefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.once('exit', () => stopped || live());
    // Its life begins when it works, so that a busy machine does not kill what has not begun.
    child.stdout!.once('data', () => {
      timer = setTimeout(
        () => {
          // On a busy machine lives that are always cut short might not be enough for what there is to do.
          if (hasLast && kills >= KILLS_MIN) return;
          kills++;
          child.kill('SIGKILL');
        },
        kills === 0 ? FIRST_LIFE_MILLISECONDS : LIFE_MILLISECONDS_MAX * (0.5 + random() / 2),
      );
    });
  };
  live();
  return {
    kills: () => kills,
    /** There are no new events from now on. */
    afterLast: () => void (hasLast = true),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      child.kill('SIGKILL');
    },
  };
}

function shuffled<Item>(items: Item[]): Item[] {
  for (let start = 0; start < items.length; start += SHUFFLE_WINDOW) {
    const window = items.slice(start, start + SHUFFLE_WINDOW);
    for (let index = window.length - 1; index > 0; index--) {
      const other = Math.floor(random() * (index + 1));
      [window[index], window[other]] = [window[other]!, window[index]!];
    }
    items.splice(start, window.length, ...window);
  }
  return items;
}

const someEvents = (count: number): { tenantId: string; payload: Counted }[] =>
  Array.from({ length: count }, (_, position) => ({
    tenantId: tenants[Math.floor(random() * tenants.length)]!,
    payload: {
      counter: `counter-${Math.floor(random() * COUNTERS)}`,
      amount: Math.floor(random() * 1_000),
      position,
      isPoison: random() < POISON,
    },
  }));

const tell = (tenantId: string, events: ReturnType<typeof someEvents>): Promise<void> =>
  plainDatabase(pool).inTenant(tenantId, async (tx) => {
    for (const { payload } of events.filter((event) => event.tenantId === tenantId)) {
      await appendToOutbox(tx, { type: counted, tenantId, subject: payload.counter, payload });
    }
  });

/** What the projection must be, computed without any messaging. */
function modelOf(events: ReturnType<typeof someEvents>) {
  const model = new Map<string, { received: number; total: number; latest: number }>();
  for (const { tenantId, payload } of events) {
    if (payload.isPoison) continue;
    const key = `${tenantId}/${payload.counter}`;
    const { received, total, latest } = model.get(key) ?? { received: 0, total: 0, latest: -1 };
    model.set(key, {
      received: received + 1,
      total: total + payload.amount,
      latest: Math.max(latest, payload.position),
    });
  }
  return Object.fromEntries([...model].sort());
}

async function projection() {
  const { rows } = await admin.query('SELECT * FROM projection');
  const entries = rows.map(({ tenant_id, counter, received, total, latest }) => [
    `${tenant_id}/${counter}`,
    { received, total: Number(total), latest },
  ]);
  return Object.fromEntries(entries.sort());
}

/** Publishes some of the events a second time, as a relay does that was killed before it recorded the first. */
async function duplicateSome(received: number): Promise<void> {
  const { rows } = await admin.query(
    'SELECT * FROM outbox WHERE sequence = ANY($1::bigint[]) AND published_at IS NOT NULL',
    [Array.from({ length: Math.round(BATCH * DUPLICATES) }, () => 1 + Math.floor(random() * received))],
  );
  const copies = rows.map((row) => {
    const subject = subjectOf(natsPrefix, row.name);
    const body = JSON.stringify({
      id: row.id,
      name: row.name,
      tenantId: row.tenant_id,
      subject: row.subject,
      sequence: Number(row.sequence),
      occurredAt: row.occurred_at,
      actorId: null,
      actorName: null,
      payload: row.payload,
    });
    return (
      jetstream(nats)
        .publish(subject, body, { msgID: newId(), headers: signMessage(subject, body, TEST_KEYS) })
        // Nobody promises that a duplicate arrives: the stream may be gone just now.
        .catch(() => undefined)
    );
  });
  await Promise.all(copies);
}

describe('events', () => {
  it(
    'are applied exactly once, whoever is killed, however they are repeated and shuffled, and when the stream is lost',
    async () => {
      const events = shuffled(someEvents(EVENTS));
      const processes = [
        keepKilling('relay'),
        keepKilling('relay'),
        keepKilling('consumer'),
        keepKilling('consumer'),
      ];
      try {
        for (let start = 0; start < events.length; start += BATCH) {
          const batch = events.slice(start, start + BATCH);
          await Promise.all(tenants.map((tenantId) => tell(tenantId, batch)));
          await duplicateSome(start + batch.length);
          if (start === Math.floor(events.length / 2 / BATCH) * BATCH) {
            await eventually(async () => (await admin.query('SELECT FROM inbox LIMIT 1')).rowCount);
            await (await jetstreamManager(nats)).streams.delete(natsPrefix);
          }
        }
        processes.forEach((process) => process.afterLast());
        const poison = events.filter(({ payload }) => payload.isPoison).length;
        await eventually(
          async () => {
            const { rows } = await admin.query(
              'SELECT (SELECT sum(received) FROM projection)::int AS received, (SELECT count(*) FROM dead_letter)::int AS dead',
            );
            const kills = processes.map((process) => process.kills());
            return (
              rows[0].received >= events.length - poison &&
              rows[0].dead >= poison &&
              Math.min(...kills) >= KILLS_MIN
            );
          },
          CONVERGENCE_MILLISECONDS_MAX + EVENTS * 30,
        );
        expect(await projection()).toEqual(modelOf(events));
      } finally {
        processes.forEach((process) => process.stop());
      }
    },
    CONVERGENCE_MILLISECONDS_MAX + EVENTS * 60,
  );
});
