import { newId } from '@plinth/kernel/uuid';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { silentLog } from '@plinth/runtime/process/log';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { measureParts, measureStore } from '@plinth/runtime/postgres/store-metrics';
import { Client } from 'pg';
import { createTestDatabase } from '@plinth/testing/test-database';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

describe('the metrics of a service', () => {
  afterEach(() => void jest.useRealTimers());

  it('tell how long events wait, how many letters are dead, and how busy the pool is', async () => {
    const database = await createTestDatabase('settings');
    const pool = createPool(database.url, silentLog());
    const admin = new Client({ connectionString: database.adminUrl });
    await admin.connect();
    closers.push(
      () => database.drop(),
      () => pool.end(),
      () => admin.end(),
    );
    const metrics = createMetrics('settings');
    measureStore(metrics, pool);
    await admin.query(
      `INSERT INTO outbox (tenant_id, id, name, subject, payload, occurred_at)
       VALUES ($1, $2, 'n', 's', '{}', now() - interval '90 seconds')`,
      [newId(), newId()],
    );
    await admin.query(
      `INSERT INTO dead_letter (tenant_id, consumer, event_id, name, envelope, error, deliveries)
       VALUES ($1, 'c', $2, 'n', '{}', 'e', 10)`,
      [newId(), newId()],
    );

    const text = await metrics.metrics();

    expect(text).toMatch(/plinth_outbox_unpublished\{process="settings"\} 1\n/);
    expect(text).toMatch(/plinth_outbox_oldest_seconds\{process="settings"\} (9|1\d)\d/);
    expect(text).toMatch(/plinth_dead_letters\{process="settings"\} 1\n/);
    expect(text).toMatch(/plinth_database_connections\{state="waiting",process="settings"\} 0\n/);
  });

  it('ask a database once in a while what waits, and tell nothing of it while that is silent', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const pool = createPool('postgres://nobody@localhost/nothing', silentLog());
    const metrics = createMetrics('settings');
    measureStore(metrics, pool);
    const query = async () => ({
      rows: [{ unpublished: 1, oldestSeconds: 1, deadLetters: 1, waitingEvents: 1 }],
    });
    const connect = jest.spyOn(pool, 'connect');
    connect.mockImplementation(async () => ({ query, release: () => undefined }) as never);
    for (let collection = 0; collection < 2; collection++)
      expect(await metrics.metrics()).toMatch(/plinth_outbox_unpublished\{process="settings"\} 1\n/);
    expect(connect).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(60_000);
    connect.mockClear().mockImplementation(() => new Promise(() => undefined));

    for (let collection = 0; collection < 2; collection++) {
      const collected = metrics.metrics();
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await collected).not.toMatch(/plinth_(outbox_unpublished|dead_letters)\{/);
    }

    expect(connect).toHaveBeenCalledTimes(1);
    jest.useRealTimers();
    await pool.end();
  });

  it('tell which parts answer', async () => {
    const metrics = createMetrics('settings');
    const parts = { postgres: async () => 1, nats: () => Promise.reject(new Error('away')) };
    measureParts(metrics, new Health(parts));

    const text = await metrics.metrics();

    expect(text).toContain('plinth_part_up{part="postgres",process="settings"} 1\n');
    expect(text).toContain('plinth_part_up{part="nats",process="settings"} 0\n');
  });
});
