import { contactsNoted } from '@plinth/contracts/contacts/events';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import { newIds } from '@plinth/kernel/new-ids';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { entryQuota } from '../src/store/entry-quota';
import { aUser, publishForeignEvent, startTimeline, type Timeline } from './start-timeline';

describe('the quota of timeline entries', () => {
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline({ environment: { TIMELINE_TENANT_ENTRIES_MAX: '20' } });
  });
  afterAll(() => timeline.close());

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuses what is beyond it, and says which it is', async () => {
    const [ann, other] = [aUser(newId(), 'Ann'), aUser(newId(), 'Bob')];
    const post = (caller = ann) =>
      timeline.as(caller).post(`/timeline/Invoice/${newId()}/entries`, { entryType: 0, body: 'Hello' });
    for (let count = 0; count < 10; count++) expect((await post()).status).toBe(201);
    let refused = await post();
    for (let count = 11; refused.status === 201 && count <= 21; count++) refused = await post();

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'timeline-entries', scope: 'tenant', limit: 20 } },
    });
    expect((await post(other)).status).toBe(201);
  });

  it('counts what people write, and not what the system notes', async () => {
    const ann = aUser(newId(), 'Ann');
    // Ids of their own, and ids that were made together and share their lines.
    const noted = [...Array.from({ length: 30 }, () => newId()), ...newIds(300)];
    await publishForeignEvent(timeline.natsPrefix, {
      type: contactsNoted,
      tenantId: ann.tenantId,
      payload: { entityType: 'Contact', entityIds: noted, texts: { en: 'Imported.', fr: 'Importé.' } },
    });
    const http = timeline.as(ann);
    await eventually(async () => (await http.get(`/timeline/Contact/${noted.at(-1)}`)).body.totalCount === 1);
    const statuses: number[] = [];
    // The first one has them counted.
    for (let count = 0; count < 8; count++) {
      const path = `/timeline/Contact/${noted[0]}/entries`;
      statuses.push((await http.post(path, { entryType: 0, body: 'Hello' })).status);
    }
    expect(statuses).toEqual(Array(8).fill(201));
  });
});

describe('the quota of bytes in long timeline entries', () => {
  const QUOTA = 120_000;
  /** 6,000 bytes, of fewer characters than a long entry has bytes. */
  const LONG = '字'.repeat(2_000);
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline({ environment: { TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX: `${QUOTA}` } });
  });
  afterAll(() => timeline.close());

  // What is written while entries are counted may count twice, and the first one not at all.
  it('refuses long ones beyond it and leaves nothing of them, and no short ones', async () => {
    const [ann, other] = [aUser(newId(), 'Ann'), aUser(newId(), 'Bob')];
    const path = `/timeline/Invoice/${newId()}`;
    const post = (body: string, caller = ann) =>
      timeline.as(caller).post(`${path}/entries`, { entryType: 0, body });
    let written = 0;
    let answer = await post(LONG);
    for (; answer.status === 201 && written <= 21; written++) answer = await post(LONG);

    expect(written).toBeGreaterThanOrEqual(10);
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'timeline-long-entry-bytes', scope: 'tenant', limit: QUOTA } },
    });
    expect((await timeline.as(ann).get(path)).body.totalCount).toBe(written);
    expect((await post('x'.repeat(800))).status).toBe(201);
    expect((await post(LONG, other)).status).toBe(201);

    const entityId = newId();
    await publishForeignEvent(timeline.natsPrefix, {
      type: transitionExecuted,
      tenantId: ann.tenantId,
      payload: {
        entityType: 'Invoice',
        entityId,
        transitionName: 'open',
        previousState: 'Draft',
        newState: 'Open',
        comment: LONG,
        transitionedAt: '2030-01-01T12:00:00.000Z',
        transitionedBy: ann.userId,
        position: 1,
      },
    });
    const http = timeline.as(ann);
    await eventually(async () => (await http.get(`/timeline/Invoice/${entityId}`)).body.totalCount === 1);
  });

  it('counts the names of their entities too', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const post = async (entityId: string) => {
      const path = `/timeline/Invoice/${encodeURIComponent(entityId)}/entries`;
      return (await http.post(path, { entryType: 0, body: 'x' })).status;
    };
    // Of 1,194 bytes.
    const statuses: number[] = [];
    for (let count = 100; count < 140; count++) statuses.push(await post(`${count}${'字'.repeat(397)}`));
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(9);
    expect(await post(newId())).toBe(201);
  });

  it('counts the long ones of people alone, in indexes of what people wrote', async () => {
    const tenantId = newId();
    const admin = new Client({ connectionString: timeline.database!.adminUrl });
    await admin.connect();
    try {
      const fill = (count: number, body: string, isOfSystem = false) =>
        admin.query(
          `INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, message_key, author_id,
             author_display_name, created_at)
           SELECT $1::uuid, gen_random_uuid(), 'Invoice', n::text, $4::smallint, $3, $5, 'ada', 'Ada', now()
           FROM generate_series(1, $2::int) AS n`,
          [tenantId, count, body, isOfSystem ? 2 : 0, isOfSystem ? 'workflow.moved' : null],
        );
      await fill(2_000, 'x'.repeat(900));
      await fill(2_000, LONG, true);
      await fill(3, LONG);
      await admin.query('ANALYZE entry');
    } finally {
      await admin.end();
    }
    const counted: { rows: number; plan: string }[] = [];
    const explaining = {
      inTenant: (_tenantId: string, work: (tx: never) => Promise<unknown>) =>
        timeline.db.inTenant(tenantId, async (tx) => {
          const count = async (statement: string, ...values: unknown[]) => {
            const plan = await tx.$queryRawUnsafe(`EXPLAIN (FORMAT JSON) ${statement}`, ...values);
            const rows = await tx.$queryRawUnsafe<{ rows: number }[]>(statement, ...values);
            counted.push({ rows: rows[0]!.rows, plan: JSON.stringify(plan) });
            return rows;
          };
          return work({ $queryRawUnsafe: count } as never);
        }),
    };
    const quota = entryQuota({
      db: explaining as never,
      log: silentLog(),
      metrics: new Registry(),
      config: timeline.config,
    });
    quota.take(tenantId, { entityType: 'Invoice', entityId: '1', body: LONG });

    expect(await eventually(() => counted.length === 2)).toBe(true);
    expect(counted).toContainEqual({ rows: 2_003, plan: expect.stringContaining('"entry_of_people"') });
    expect(counted).toContainEqual({
      rows: 3 * (5 * ('Invoice'.length + 1) + 6_000),
      plan: expect.stringContaining('"long_entry_with_names_of_people"'),
    });
  });
});
