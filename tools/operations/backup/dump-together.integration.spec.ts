import { newId } from '@plinth/kernel/uuid';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { createTestDatabase } from '@plinth/testing/test-database';
import pg from 'pg';
import { dumpTogether, type Database } from './dump-together';

const tenantId = newId();
const closers: Close[] = [];

const services = ['contacts', 'timeline', 'data-exchange', 'workflow'] as const;
let databases: Record<(typeof services)[number], Database & { client: pg.Client }>;

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  closers.push(() => client.end());
  return client;
};

beforeAll(async () => {
  const opened = await Promise.all(
    services.map(async (service) => {
      const { adminUrl: url, drop } = await createTestDatabase(service);
      closers.push(drop);
      return [service, { service, url, client: await connect(url) }] as const;
    }),
  );
  databases = Object.fromEntries(opened) as typeof databases;
});
afterAll(() => closeAll(closers, silentLog()));

/** Does what services do with an event: its publisher commits it, and then a consumer what comes of it. */
async function happen(eventId = newId()): Promise<void> {
  await databases.contacts.client.query(
    `INSERT INTO outbox (tenant_id, id, name, subject, payload) VALUES ($1, $2, 'test.happened', 'x', '{}')`,
    [tenantId, eventId],
  );
  await databases.timeline.client.query(
    `INSERT INTO inbox (tenant_id, consumer, event_id) VALUES ($1, 'timeline', $2)`,
    [tenantId, eventId],
  );
}

/** The events of a database, read as `pg_dump --snapshot` reads it. */
async function eventsIn({ url }: Database, snapshot: string, of: 'outbox' | 'inbox'): Promise<string[]> {
  const client = await connect(url);
  await client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT ${pg.escapeLiteral(snapshot)}`,
  );
  const id = of === 'outbox' ? 'id' : 'event_id';
  const { rows } = await client.query(`SELECT ${id} AS id FROM ${of} WHERE tenant_id = $1`, [tenantId]);
  await client.query('COMMIT');
  return rows.map((row: { id: string }) => row.id);
}

describe('databases that are dumped while services write', () => {
  it('are as they were at one moment, of which no consumer has an event that its publisher lacks', async () => {
    const before = newId();
    await happen(before);
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      for (; !isOver; written++) await happen();
    })();
    await eventually(() => written > 0);
    const later: string[] = [];
    const published: string[] = [];
    const applied: string[] = [];

    await dumpTogether(Object.values(databases), async (database, snapshot) => {
      // However long the dumps before this one take.
      const id = newId();
      await happen(id);
      later.push(id);
      if (database.service === 'contacts') published.push(...(await eventsIn(database, snapshot, 'outbox')));
      if (database.service === 'timeline') applied.push(...(await eventsIn(database, snapshot, 'inbox')));
    });
    isOver = true;
    await writing;

    expect(applied).toContain(before);
    expect(applied.filter((id) => !published.includes(id))).toEqual([]);
    expect(later.filter((id) => published.includes(id) || applied.includes(id))).toEqual([]);
  });

  it('are seen first where their services learn from others what these did', async () => {
    const order: string[] = [];
    await dumpTogether(Object.values(databases), ({ service }) => void order.push(service));
    expect(order).toEqual(['timeline', 'workflow', 'data-exchange', 'contacts']);
  });
});
