import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { freePort } from '@plinth/testing/free-port';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { Client } from 'pg';
import { migrations } from '../src/generated/migrations';
import { startSettings } from './start-settings';

let database: TestDatabase;
let admin: Client;

beforeAll(async () => {
  database = await createTestDatabase('settings');
  admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await database.drop();
});

const finish = (migration: string, finishedAt: string) =>
  admin.query(`UPDATE _prisma_migrations SET finished_at = ${finishedAt} WHERE migration_name = $1`, [
    migration,
  ]);

/** Begins to start the service on the database, and tells what its admin port says meanwhile. */
async function beginStart(closers: Close[], databaseUrl = database.url) {
  const ADMIN_PORT = await freePort();
  const environment = { HTTP_HOST: '127.0.0.1', ADMIN_PORT: String(ADMIN_PORT) };
  const started = startSettings({ databaseUrl, environment }, closers);
  const ask = (path: string) => fetch(`http://127.0.0.1:${ADMIN_PORT}${path}`);
  return { started, ask };
}

/** Waits until something holds: a part whose check takes long is down at that moment. */
const until = (holds: () => Promise<void>) =>
  eventually(async () => {
    await holds();
    return true;
  });

/** Waits until the metrics of the process say this of its parts. */
const untilPartsAre = (parts: Record<string, string>, ask: (path: string) => Promise<Response>) =>
  until(async () => {
    const lines = (await (await ask('/metrics')).text()).matchAll(
      /^plinth_part_up\{part="(\w+)",process="settings"\} (\d)$/gm,
    );
    expect(Object.fromEntries([...lines].map(([, part, value]) => [part, value]))).toEqual(parts);
  });

describe('a service whose database is one migration behind', () => {
  it.each([migrations[0]!, migrations.at(-1)!])(
    'is alive, is not ready, and begins when %s is finished',
    async (migration) => {
      await finish(migration, 'NULL');
      const { started, ask } = await beginStart([]);

      await until(async () => {
        const ready = await ask('/readyz');
        expect(ready.status).toBe(503);
        expect(await ready.json()).toMatchObject({
          parts: { postgres: 'up', migrations: 'down' },
          causes: { migrations: `The database is not migrated to this version: ${migration} is missing.` },
        });
      });
      expect((await ask('/healthz')).status).toBe(200);
      await untilPartsAre({ postgres: '1', migrations: '0' }, ask);

      await finish(migration, 'now()');
      const settings = await started;
      await eventually(async () => (await settings.health.readiness()).ready);
      // Port and metric are free for the process.
      await expect(ask('/healthz')).rejects.toThrow();
      expect(settings.metrics.getSingleMetric('plinth_part_up')).toBeUndefined();
      await settings.close();
    },
  );

  it('can be stopped while it waits', async () => {
    await finish(migrations[0]!, 'NULL');
    const closers: Close[] = [];
    const { started, ask } = await beginStart(closers);
    const ended = expect(started).rejects.toThrow('aborted');
    await eventually(() => ask('/healthz'));

    await closeAll(closers, silentLog());

    await ended;
    await finish(migrations[0]!, 'now()');
  });
});

it('a service waits for tables that are not made yet', async () => {
  await admin.query('ALTER TABLE _prisma_migrations RENAME TO not_made_yet');
  const { started, ask } = await beginStart([]);
  await untilPartsAre({ postgres: '1', migrations: '0' }, ask);

  await admin.query('ALTER TABLE not_made_yet RENAME TO _prisma_migrations');
  await (await started).close();
});

it('a service that starts while its database is away says so', async () => {
  const closers: Close[] = [];
  const away = `postgres://settings@127.0.0.1:${await freePort()}/settings`;
  const { started, ask } = await beginStart(closers, away);
  const ended = expect(started).rejects.toThrow('aborted');
  await untilPartsAre({ postgres: '0', migrations: '1' }, ask);

  await closeAll(closers, silentLog());
  await ended;
});

it('a service starts on tables that a later version has migrated', async () => {
  await admin.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('later', '', '99999999999999_later')`,
  );
  const settings = await startSettings({ databaseUrl: database.url });
  await eventually(async () => (await settings.health.readiness()).ready);
  await settings.close();
});
