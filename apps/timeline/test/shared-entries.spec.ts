import { contactsNoted } from '@plinth/contracts/contacts/events';
import { newIds } from '@plinth/kernel/new-ids';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { openExchangeOwner } from '@plinth/testing/exchange-owner';
import { grpcServices } from '../src/grpc/server';
import { aStaffMember, aUser, publishForeignEvent, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

/** A whole day, so that minutes can be told from each other. */
const YESTERDAY = (Math.floor(Date.now() / 86_400_000) - 1) * 86_400_000;

const ENTITIES = 300;
/** So many rows are shared by entities whose ids begin alike. */
const SHARED_MAX = 16;

const path = (id: string) => `/timeline/Contact/${id}`;

const minute = (number: number) => new Date(YESTERDAY + number * 60_000);

/** What another service publishes about its entities. */
const publishNoted = (
  tenantId: string,
  entityIds: readonly string[],
  at = minute(0),
  natsPrefix = timeline.natsPrefix,
) =>
  publishForeignEvent(natsPrefix, {
    type: contactsNoted,
    tenantId,
    payload: {
      entityType: 'Contact',
      entityIds: [...entityIds],
      texts: { en: `Imported ${at.getUTCMinutes()}.`, fr: `Importé ${at.getUTCMinutes()}.` },
    },
    actorId: 'bob',
    actorName: 'Bob',
    occurredAt: at.toISOString(),
  });

const read = async (caller: ReturnType<typeof aUser>, id: string, query = '') =>
  (await timeline.as(caller).get(`${path(id)}${query}`)).body;

const bodiesOf = ({ items }: { items: { body: string }[] }) => items.map(({ body }) => body);

/** How many entries a tenant has of its own, and how many rows with shared ones. */
const stored = (tenantId: string) =>
  timeline.db.inTenant(tenantId, async (tx) => ({
    entries: await tx.entry.count({ where: { tenantId } }),
    counters: await tx.entryCount.count({ where: { tenantId } }),
    sharedRows: await tx.sharedEntry.count({ where: { tenantId } }),
  }));

describe('system logs of many entities whose ids were made together', () => {
  it('are one row for all of them, and an entry to each reader', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = newIds(ENTITIES);
    await publishNoted(tenantId, ids);
    await eventually(async () => (await read(ann, ids.at(-1)!)).totalCount === 1);

    expect(await stored(tenantId)).toEqual({ entries: 0, counters: 0, sharedRows: 2 });
    const entryIds = new Set<string>();
    for (const id of [ids[0]!, ids[200]!, ids.at(-1)!]) {
      const { items, totalCount } = await read(ann, id);
      expect(totalCount).toBe(1);
      expect(items).toEqual([
        expect.objectContaining({
          entityId: id,
          entryType: 2,
          body: 'Imported 0.',
          authorDisplayName: 'Bob',
        }),
      ]);
      const one = await timeline.as(ann).get(`${path(id)}/entries/${items[0].id}`);
      expect(one.body).toEqual(items[0]);
      expect((await timeline.as(ann).get(`${path(ids[1]!)}/entries/${items[0].id}`)).status).toBe(404);
      entryIds.add(items[0].id);
    }
    expect(entryIds.size).toBe(3);
    expect((await read(ann, newId())).totalCount).toBe(0);
    expect((await read(aUser(newId(), 'Eve'), ids[0]!)).totalCount).toBe(0);
  });

  it('stand among other entries in the order of what happened, page by page', async () => {
    const tenantId = newId();
    const [ann, sam] = [aUser(tenantId, 'Ann'), aStaffMember(tenantId, 'Sam')];
    const ids = newIds(ENTITIES);
    const id = ids[7]!;
    const write = (body: object) => timeline.as(sam).post(`${path(id)}/entries`, body);
    await write({ entryType: 0, body: 'comment' });
    await write({ entryType: 1, body: 'note' });
    for (const number of [2, 0, 3, 1]) await publishNoted(tenantId, ids, minute(number));
    await eventually(async () => (await read(sam, id)).totalCount === 6);

    const logs = ['Imported 3.', 'Imported 2.', 'Imported 1.', 'Imported 0.'];
    expect(bodiesOf(await read(sam, id))).toEqual(['note', 'comment', ...logs]);
    expect(await read(ann, id)).toMatchObject({ totalCount: 5 });
    expect(bodiesOf(await read(ann, id))).toEqual(['comment', ...logs]);
    expect(bodiesOf(await read(sam, id, '?page=2&pageSize=2'))).toEqual(logs.slice(0, 2));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await read(sam, id, `?pageSize=2&cursor=${encodeURIComponent(cursor)}`);
      seen.push(...bodiesOf(page));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['note', 'comment', ...logs]);
    expect((await stored(tenantId)).entries).toBe(2);
  });

  it('can be replied to by nobody and removed by nobody, as all system logs', async () => {
    const tenantId = newId();
    const ids = newIds(ENTITIES);
    await publishNoted(tenantId, ids);
    const max = aUser(tenantId, 'Max', 'Timeline.Entries.Manage');
    await eventually(async () => (await read(max, ids[0]!)).totalCount === 1);
    const alone = newId();
    await publishNoted(tenantId, [alone]);
    await eventually(async () => (await read(max, alone)).totalCount === 1);

    const statuses = async (id: string) => {
      const [log] = (await read(max, id)).items;
      const reply = await timeline
        .as(max)
        .post(`${path(id)}/entries`, { entryType: 0, body: 'Why?', parentEntryId: log.id });
      const removal = await timeline.as(max).delete(`${path(id)}/entries/${log.id}`);
      return [reply.status, removal.status];
    };
    expect(await statuses(ids[0]!)).toEqual(await statuses(alone));
  });

  it('are entries of their own for entities with followers, who are notified', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = newIds(ENTITIES);
    await timeline.as(ann).post(`${path(ids[9]!)}/follow`);
    await publishNoted(tenantId, ids, new Date());

    await eventually(async () => (await timeline.as(ann).get('/notifications')).body.items.length === 1);
    expect(await stored(tenantId)).toEqual({ entries: 1, counters: 1, sharedRows: 2 });
    for (const id of [ids[8]!, ids[9]!]) expect(await read(ann, id)).toMatchObject({ totalCount: 1 });
  });

  it('are entries of their own where enough rows are shared already, so that readers look through few', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = newIds(50);
    for (let count = 0; count < SHARED_MAX + 2; count++) {
      await publishNoted(tenantId, ids, minute(count));
      await eventually(async () => (await read(ann, ids[0]!)).totalCount === count + 1);
    }

    expect(await stored(tenantId)).toEqual({ entries: 100, counters: 50, sharedRows: SHARED_MAX });
    expect(bodiesOf(await read(ann, ids[49]!))).toEqual(
      Array.from({ length: SHARED_MAX + 2 }, (_, index) => `Imported ${SHARED_MAX + 1 - index}.`),
    );
  });

  it('are entries of their own for ids of few, of any characters', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = Array.from({ length: 40 }, (_, index) => `${'😀'.repeat(index % 2 === 0 ? 15 : 17)}${index}`);
    await publishNoted(tenantId, ids);
    const encoded = ids.map(encodeURIComponent);
    await eventually(async () => (await read(ann, encoded.at(-1)!)).totalCount === 1);

    for (const id of encoded) expect(bodiesOf(await read(ann, id))).toEqual(['Imported 0.']);
  });

  it('are entries of their own for ids that others chose, of which too many begin alike', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = Array.from({ length: 1_025 }, (_, index) => `customer-of-2026-${index}`);
    await publishNoted(tenantId, ids);
    await eventually(async () => (await read(ann, ids[0]!)).totalCount === 1);

    expect(await stored(tenantId)).toEqual({ entries: 1_025, counters: 1_025, sharedRows: 0 });
  });

  it('belong to their tenant, whatever a query asks for', async () => {
    const tenantId = newId();
    const ids = newIds(ENTITIES);
    await publishNoted(tenantId, ids);
    await eventually(async () => (await read(aUser(tenantId, 'Ann'), ids[0]!)).totalCount === 1);
    const countedBy = (id: string) => timeline.db.inTenant(id, (tx) => tx.timelineEntry.count());

    expect([await countedBy(tenantId), await countedBy(newId())]).toEqual([ENTITIES, 0]);
  });

  it('are exported as entries', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const ids = newIds(ENTITIES);
    await publishNoted(tenantId, ids);
    await eventually(async () => (await read(ann, ids[0]!)).totalCount === 1);
    const owner = await openExchangeOwner(grpcServices(timeline));
    try {
      const rows = await owner.exportRows(ann, {
        definition: 'Timeline.Entries',
        fields: ['entityId', 'entryType', 'body', 'attachmentBlobIds'],
      });
      expect(rows.toSorted()).toEqual(ids.map((id) => [id, 'SystemLog', 'Imported 0.', null]));
      const found = (selection: object) =>
        owner.exportRows(ann, { definition: 'Timeline.Entries', fields: ['entityId'], selection });
      expect(await found({ search: 'imported' })).toHaveLength(ENTITIES);
      expect(await found({ search: 'deleted' })).toEqual([]);
      expect(await found({ filter: { 'entityId.eq': ids[3] } })).toEqual([[ids[3]]]);
    } finally {
      await owner.close();
    }
  });
});

describe('a replica that is told to share no entries', () => {
  it('writes one for each entity, and reads those that others share', async () => {
    const { databaseUrl } = timeline;
    const careful = await startTimeline({ databaseUrl, environment: { TIMELINE_SHARED_ENTRIES: 'false' } });
    try {
      const tenantId = newId();
      const ids = newIds(ENTITIES);
      const ann = careful.as(aUser(tenantId, 'Ann'));
      const bodies = async () => bodiesOf((await ann.get(path(ids[0]!))).body);
      await publishNoted(tenantId, ids, minute(1), careful.natsPrefix);
      await eventually(async () => (await bodies()).length === 1);
      expect(await stored(tenantId)).toEqual({ entries: ENTITIES, counters: ENTITIES, sharedRows: 0 });
      await publishNoted(tenantId, ids, minute(2));
      await eventually(async () => (await bodies()).length === 2);

      expect(await bodies()).toEqual(['Imported 2.', 'Imported 1.']);
      expect(await stored(tenantId)).toEqual({ entries: ENTITIES, counters: ENTITIES, sharedRows: 2 });
    } finally {
      await careful.close();
    }
  });
});
