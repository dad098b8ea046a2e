import type { FairPool } from './fair-pool';
import { Gauge, type Registry } from 'prom-client';
import { measurePlaces } from '../process/fair-places';
import type { Health } from '../process/health';
import { readInTime } from '../process/read-in-time';
import { SpacedReading } from '../process/spaced-reading';

const PART_UP = 'plinth_part_up';

/**
 * Shows, whenever metrics are read, which parts of a process respond.
 * @returns ends it, so that the parts of another health can be shown
 */
export function measureParts(metrics: Registry, health: Health): () => void {
  new Gauge({
    name: PART_UP,
    help: '1 while a part that the process needs responds, else 0.',
    labelNames: ['part'],
    registers: [metrics],
    async collect() {
      const { parts } = await health.readiness();
      this.reset();
      for (const [part, state] of Object.entries(parts)) this.set({ part }, state === 'up' ? 1 : 0);
    },
  });
  return () => metrics.removeSingleMetric(PART_UP);
}

/**
 * Shows, whenever metrics are read, how busy the pools are and what the outbox and the dead letters held lately.
 * @param bulkPool of imports and exports, where the process has one
 */
export function measureStore(metrics: Registry, pool: FairPool, bulkPool?: FairPool): void {
  measurePlaces(metrics, {
    connections: pool.tenantPlaces,
    'platform-connections': pool.platformPlaces,
    ...(bulkPool && { 'bulk-connections': bulkPool.tenantPlaces }),
  });
  new Gauge({
    name: 'plinth_database_connections',
    help: 'Connections of the pool, and requests that wait for one.',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'waiting' }, pool.tenantPlaces.waitingCount + pool.platformPlaces.waitingCount);
    },
  });
  const read = () => readInTime(() => recentQueues(pool));
  const gauge = (name: string, help: string, valueOf: (queues: Queues) => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        const queues = await read();
        if (queues) this.set(valueOf(queues));
        // What was read long before would be taken for what is now.
        else this.remove();
      },
    });
  gauge('plinth_outbox_unpublished', 'Events that are not published yet.', ({ unpublished }) => unpublished);
  gauge(
    'plinth_outbox_oldest_seconds',
    'Age of the oldest event that is not published yet.',
    ({ oldestSeconds }) => oldestSeconds,
  );
  gauge(
    'plinth_dead_letters',
    'Events that could not be processed here and wait to be replayed.',
    ({ deadLetters }) => deadLetters,
  );
  gauge(
    'plinth_waiting_events',
    'Events of tenants of which more arrived than is processed at once; tenants take turns at them.',
    ({ waitingEvents }) => waitingEvents,
  );
}

/** What waits in the database of a service, of all tenants. */
interface Queues {
  unpublished: number;
  oldestSeconds: number;
  deadLetters: number;
  waitingEvents: number;
}

const readings = new WeakMap<FairPool, SpacedReading<Queues>>();

/**
 * What waited some seconds ago, or longer where counting takes long: whoever asks, and however often, the database counts a
 * hundredth of the time at most as long as it takes less than a second. What waits costs a step each, and so does, while a
 * transaction is held open, what was published or processed since it began.
 */
export function recentQueues(pool: FairPool): Promise<Queues> {
  const known = readings.get(pool);
  const reading = known ?? new SpacedReading(() => readQueues(pool));
  if (!known) readings.set(pool, reading);
  return reading.read();
}

/** They changed in a way that somebody waits to see. */
export const forgetQueues = (pool: FairPool): void => readings.get(pool)?.forget();

/** In a transaction, so that the right to see all tenants ends with it. */
export async function readQueues(pool: FairPool): Promise<Queues> {
  const connection = await pool.connect();
  try {
    await connection.query('BEGIN READ ONLY');
    await connection.query("SELECT set_config('plinth.scope', 'platform', true)");
    const { rows } = await connection.query<Queues>(`
      SELECT count(*)::int AS unpublished,
             coalesce(extract(epoch FROM now() - min(occurred_at)), 0)::float AS "oldestSeconds",
             (SELECT count(*)::int FROM dead_letter) AS "deadLetters",
             (SELECT count(*)::int FROM waiting_event) AS "waitingEvents"
        FROM outbox WHERE published_at IS NULL`);
    return rows[0]!;
  } finally {
    await connection.query('ROLLBACK').catch(() => {});
    connection.release();
  }
}
