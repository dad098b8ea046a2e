import { importFinished } from '@plinth/contracts/data-exchange/events';
import { notificationsDue } from '@plinth/contracts/timeline/events';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import { systemClock } from '@plinth/kernel/clock';
import type { EventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { EventProcessor } from '@plinth/runtime/messaging/event-processor';
import { silentLog } from '@plinth/runtime/process/log';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { Client } from 'pg';
import { POLL_MILLISECONDS } from '../src/app/wake-ups';
import { subscriptions } from '../src/events/subscriptions';
import { notificationStore } from '../src/store/notification-store';
import {
  aStaffMember,
  aUser,
  allEventsProcessed,
  mention,
  startTimeline,
  publishForeignEvent,
  type ForeignEvent,
  type Timeline,
} from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const anEntity = () => `/timeline/Invoice/${newId()}`;
const comment = (body: string, more: object = {}) => ({ entryType: 0, body, ...more });
type Caller = ReturnType<typeof aCaller>;

const write = async (caller: Caller, path: string, body: object) =>
  (await timeline.as(caller).post(`${path}/entries`, body)).body;
const notificationsOf = async (caller: Caller, query = '') =>
  (await timeline.as(caller).get(`/notifications${query}`)).body;
const unread = async (caller: Caller) =>
  (await timeline.as(caller).get('/notifications/unread-count')).body.count;

/** What is counted in a tenant: notifications of people, and entries of entities. */
const countsOf = (tenantId: string) =>
  timeline.db.inTenant(tenantId, async (tx) => ({
    people: (await tx.notificationCount.findMany({ where: { tenantId }, orderBy: { userId: 'asc' } })).map(
      ({ userId }) => userId,
    ),
    entities: await tx.entryCount.count({ where: { tenantId } }),
  }));

type OfBatch = Pick<ForeignEvent<EventType>, 'type' | 'payload'>;
const aTransition: OfBatch = {
  type: transitionExecuted,
  payload: {
    entityType: 'Invoice',
    entityId: newId(),
    transitionName: 'Submit',
    previousState: 'Draft',
    newState: 'Submitted',
    comment: null,
    transitionedAt: new Date().toISOString(),
    transitionedBy: 'ada',
    position: 1,
  },
};

/** Processes events of one subject after the other in one transaction; returns how many were acknowledged. */
async function processBatch(tenantId: string, events: readonly OfBatch[]): Promise<number> {
  const signal = { wake: () => undefined, onWake: () => () => undefined, close: async () => undefined };
  const handlers = subscriptions({
    signal,
    timelineSignal: signal,
    notificationQuota: { tryTake: () => true },
    dueEntries: signal,
    sharesEntries: true,
    clock: systemClock,
  });
  const options = { deliveriesMax: 1, backoffMilliseconds: 1 };
  const processor = new EventProcessor(
    'timeline',
    handlers,
    timeline.db,
    silentLog(),
    options,
    () => undefined,
  );
  let acknowledged = 0;
  const answers = { ack: () => void acknowledged++, nak: () => undefined, term: () => undefined };
  await processor.processBatch(
    events.map(({ type, payload }, index) => {
      const about = { id: newId(), name: type.name, tenantId, subject: `Invoice/${index}`, sequence: 1 };
      const actor = { occurredAt: new Date().toISOString(), actorId: null, actorName: null };
      return { event: { ...about, ...actor, payload }, bytes: 1, deliveryCount: 1, ...answers };
    }),
  );
  return acknowledged;
}

describe('notifications', () => {
  it.each(['that one event after the other tells of', 'behind other events of a batch'])(
    'of several entries, %s, lock the counters of all their readers in one order, so that nobody waits in a circle',
    async (where) => {
      const tenantId = newId();
      const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
      const entries = [
        await write(ann, anEntity(), comment(mention(bob))),
        await write(bob, anEntity(), comment(mention(ann))),
      ];
      await allEventsProcessed(timeline);
      const admin = new Client({ connectionString: timeline.database!.adminUrl });
      await admin.connect();
      await admin.query('DELETE FROM notification WHERE tenant_id = $1', [tenantId]);
      const lockCounter = ({ userId }: Caller) =>
        admin.query('SELECT FROM notification_count WHERE user_id = $1 FOR UPDATE NOWAIT', [userId]);
      await admin.query('BEGIN');
      await lockCounter(ann);

      const [first, last] = entries.map(({ id: entryId }): OfBatch => ({
        type: notificationsDue,
        payload: { entryId },
      })) as [OfBatch, OfBatch];
      const between = where === 'behind other events of a batch' ? [aTransition] : [];
      const processed = processBatch(tenantId, [first, ...between, last]);
      await eventually(async () => {
        const { rowCount } = await admin.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount! > 0;
      });
      // The first entry notifies bob, whose counter comes behind that of ann.
      await lockCounter(bob);
      await admin.query('COMMIT');
      await admin.end();

      expect(await processed).toBe(1 + between.length + 1);
      for (const caller of [ann, bob]) expect(await unread(caller)).toBe(1);
    },
  );

  it('leave nothing behind of people and entities that do not exist, and begin above what they were before', async () => {
    const tenantId = newId();
    const [ann, bob, nobody] = ['Ann', 'Bob', 'Nobody'].map((name) => aUser(tenantId, name)) as [
      Caller,
      Caller,
      Caller,
    ];
    const path = anEntity();
    await timeline.as(bob).get('/notifications');
    const mentionBoth = () => write(ann, path, comment(`${mention(bob)} ${mention(nobody)}`));
    const sequences = () =>
      timeline.db.inTenant(tenantId, async (tx) =>
        (await tx.notification.findMany({ where: { tenantId, userId: nobody.userId } })).map(
          ({ sequence }) => sequence,
        ),
      );
    const remove = (id: string) => timeline.as(ann).delete(`${path}/entries/${id}`);
    const [one, other] = [await mentionBoth(), await mentionBoth()];
    await allEventsProcessed(timeline);
    const before = await sequences();
    expect(before).toHaveLength(2);

    await remove(one.id);
    expect(await countsOf(tenantId)).toEqual({ people: [bob.userId, nobody.userId].sort(), entities: 1 });
    await remove(other.id);
    expect(await countsOf(tenantId)).toEqual({ people: [bob.userId], entities: 0 });

    await mentionBoth();
    await allEventsProcessed(timeline);
    const [again] = await sequences();
    for (const sequence of before) expect(again).toBeGreaterThan(sequence);
  });

  it('go to mentioned people and followers, each once, and not to the author', async () => {
    const tenantId = newId();
    const [ann, bob, cid] = ['Ann', 'Bob', 'Cid'].map((name) => aUser(tenantId, name)) as [
      Caller,
      Caller,
      Caller,
    ];
    const path = anEntity();
    await Promise.all([ann, bob, cid].map((user) => timeline.as(user).post(`${path}/follow`)));
    const entry = await write(
      ann,
      path,
      comment(`${mention(bob)} ${mention(bob)} ${mention(ann)} please look`),
    );
    await allEventsProcessed(timeline);

    expect((await notificationsOf(bob)).items).toEqual([
      {
        id: expect.any(String),
        kind: 'Mention',
        entityType: 'Invoice',
        entityId: path.split('/').at(-1),
        entryId: entry.id,
        actorId: ann.userId,
        actorDisplayName: 'Ann',
        title: 'Ann mentioned you',
        body: '@Bob @Bob @Ann please look',
        severity: 'Info',
        excerpt: '@Bob @Bob @Ann please look',
        createdAt: expect.any(String),
        isRead: false,
        readAt: null,
      },
    ]);
    expect((await notificationsOf(cid)).items).toMatchObject([
      { kind: 'Entry', entryId: entry.id, title: `New comment on Invoice ${entry.entityId}` },
    ]);
    expect((await notificationsOf(ann)).items).toEqual([]);
  });

  it('of a mention make the mentioned person follow the entity', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).get(path);
    await write(ann, path, comment(`Hello ${mention(bob)}`));
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
    await write(ann, path, comment('More'));
    await allEventsProcessed(timeline);
    expect((await notificationsOf(bob)).items.map(({ kind }: { kind: string }) => kind)).toEqual([
      'Entry',
      'Mention',
    ]);
  });

  it('wait for people who were mentioned before their first request, and reveal them to no one', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await write(ann, path, comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([]);
    expect(await unread(bob)).toBe(1);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
  });

  it('show names from the directory instead of what was typed in the mention', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    await unread(bob);
    const path = anEntity();
    const { body } = await write(
      ann,
      path,
      comment(`@[<b>The Boss</b>](user:${bob.userId}) @[you](user:nobody)`),
    );
    expect(body).toContain('<b>The Boss</b>');
    await allEventsProcessed(timeline);
    expect((await notificationsOf(bob)).items[0].excerpt).toBe('@Bob @nobody');
  });

  it('have a title in the culture of the reader', async () => {
    const tenantId = newId();
    const [sam, sue] = [aStaffMember(tenantId, 'Sam'), aStaffMember(tenantId, 'Sue')];
    const path = `/timeline/${encodeURIComponent('Pièce comptable')}/4711`;
    await timeline.as(sue).post(`${path}/follow`);
    await write(sam, path, comment('Hello'));
    await write(sam, path, { entryType: 1, body: `${mention(sue)} between us` });
    await write(sam, path, { entryType: 1, body: 'between us' });
    await allEventsProcessed(timeline);
    const titles = async (language: string) => {
      const headers = { 'accept-language': language };
      const { body } = await timeline.as(sue).get('/notifications', { headers });
      return body.items.map(({ title }: { title: string }) => title);
    };
    expect(await titles('en')).toEqual([
      'New internal note on Pièce comptable 4711',
      'Sam mentioned you',
      'New comment on Pièce comptable 4711',
    ]);
    expect(await titles('fr-CA')).toEqual([
      'Nouvelle note interne sur Pièce comptable 4711',
      'Sam vous a mentionné',
      'Nouveau commentaire sur Pièce comptable 4711',
    ]);
  });

  it('tell by their severity whether an import failed, in part or as a whole', async () => {
    const tenantId = newId();
    const bob = aUser(tenantId, 'Bob');
    const jobId = newId();
    await timeline.as(bob).post(`/timeline/ImportJob/${jobId}/follow`);
    for (const status of ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'] as const) {
      const counts = { totalRows: 3, succeededRows: 2, failedRows: 1 };
      const payload = { jobId, definitionName: 'Settings.Values', status, ...counts };
      await publishForeignEvent(timeline.natsPrefix, { type: importFinished, tenantId, payload });
    }
    await eventually(async () => (await unread(bob)) === 4);
    const { items } = await notificationsOf(bob);
    const severityByBody = Object.fromEntries(
      items.map(({ body, severity }: { body: string; severity: string }) => [body, severity]),
    );
    expect(severityByBody).toEqual({
      'Import of Settings.Values completed.': 'Info',
      'Import of Settings.Values partially completed.': 'Warning',
      'Import of Settings.Values failed.': 'Error',
      'Import of Settings.Values cancelled.': 'Info',
    });
    expect(items[0].title).toBe(`Update on ImportJob ${jobId}`);
  });

  it('are hidden from people who may not read entries, until they may', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    await write(ann, path, comment('secret'));
    await write(ann, path, comment(`secret ${mention(bob)}`));
    await allEventsProcessed(timeline);
    const { id } = (await notificationsOf(bob)).items[0];

    const former = { ...bob, permissions: ['Timeline.Entries.Create', 'Timeline.InternalNotes.Read'] };
    expect(await notificationsOf(former)).toEqual({
      items: [],
      totalCount: 0,
      unreadCount: 0,
      hasMore: false,
    });
    expect(await unread(former)).toBe(0);
    expect((await timeline.as(former).post(`/notifications/${id}/read`)).status).toBe(404);
    expect((await timeline.as(former).post('/notifications/read-all')).status).toBe(204);
    expect(await unread(bob)).toBe(2);
  });

  it('stay in their tenant', async () => {
    const ann = aUser(newId(), 'Ann');
    const bob = aUser(newId(), 'Bob');
    await unread(bob);
    await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    expect(await unread(bob)).toBe(0);
  });

  it('are created once per entry and person when the event is delivered repeatedly', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const entry = await write(ann, path, comment(`Hello ${mention(bob)}`));
    const payload = { entryId: entry.id };
    const id = newId();
    await publishForeignEvent(timeline.natsPrefix, { type: notificationsDue, tenantId, payload, id });
    await publishForeignEvent(timeline.natsPrefix, { type: notificationsDue, tenantId, payload, id });
    await publishForeignEvent(timeline.natsPrefix, { type: notificationsDue, tenantId, payload });
    await allEventsProcessed(timeline);
    await eventually(async () => (await notesOf(tenantId)) === 3);
    expect((await notificationsOf(bob)).totalCount).toBe(1);
  });

  it('are removed with their entry', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const { id } = await write(ann, path, comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    expect(await unread(bob)).toBe(1);
    await timeline.as(ann).delete(`${path}/entries/${id}`);
    expect(await unread(bob)).toBe(0);
    expect((await notificationsOf(bob)).items).toEqual([]);
  });

  it('are listed in pages, by cursor and by the filter `unread`', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    for (let index = 0; index < 5; index++) await write(ann, path, comment(`entry ${index}`));
    await allEventsProcessed(timeline);

    expect(await notificationsOf(bob, '?pageSize=2')).toMatchObject({ totalCount: 5, hasMore: true });
    const first = await notificationsOf(bob, '?pageSize=3&cursor=');
    expect(first).toMatchObject({ totalCount: null, hasMore: true });
    const second = await notificationsOf(bob, `?pageSize=3&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
    const all = [...first.items, ...second.items];
    expect(all.map(({ excerpt }) => excerpt)).toEqual([4, 3, 2, 1, 0].map((index) => `entry ${index}`));

    const read = await timeline.as(bob).post(`/notifications/${all[0].id}/read`);
    expect(read.status).toBe(204);
    expect(await unread(bob)).toBe(4);
    expect(await notificationsOf(bob, '?quickFilters=unread')).toMatchObject({ totalCount: 4 });
    expect((await notificationsOf(bob)).items[0]).toMatchObject({
      isRead: true,
      readAt: expect.any(String),
    });
    expect(await notificationsOf(bob, '?pageSize=1')).toMatchObject({ totalCount: 5, unreadCount: 4 });
    expect(await notificationsOf(bob, '?pageSize=1&cursor=')).toMatchObject({ unreadCount: 4 });
    expect((await timeline.as(bob).post('/notifications/read-all')).status).toBe(204);
    expect(await unread(bob)).toBe(0);
  });

  it('are followed by a further page also where an entry is removed while a page is read', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    for (const text of ['one', 'two', 'three', 'four']) await write(ann, path, comment(text));
    await allEventsProcessed(timeline);
    const { items } = await notificationsOf(bob);

    const [page] = await behindLock(
      timeline.database!.adminUrl,
      [
        { text: 'LOCK TABLE entry IN ACCESS EXCLUSIVE MODE', values: [] },
        { text: 'DELETE FROM entry WHERE tenant_id = $1 AND id = $2', values: [tenantId, items[0].entryId] },
      ],
      () => notificationsOf(bob, '?pageSize=2&cursor='),
    );

    const { items: others } = await notificationsOf(bob, `?pageSize=9&cursor=${page.nextCursor}`);
    expect([...page.items, ...others].map(({ excerpt }) => excerpt).slice(-3)).toEqual([
      'three',
      'two',
      'one',
    ]);
  });

  it('are marked as read once per operation, and a retry leaves alone what came since', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const retried = timeline.as({ ...bob, operationId: newId() });
    const path = anEntity();
    const mentioned = async (text: string) => {
      await write(ann, path, comment(`${text} ${mention(bob)}`));
      await allEventsProcessed(timeline);
    };
    await mentioned('first');
    await retried.post('/notifications/read-all');
    await mentioned('second');

    expect((await retried.post('/notifications/read-all')).status).toBe(204);
    expect(await unread(bob)).toBe(1);
  });

  it('of other people can neither be read nor marked', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    const { id } = (await notificationsOf(bob)).items[0];
    expect((await timeline.as(ann).post(`/notifications/${id}/read`)).status).toBe(404);
    expect((await timeline.as(aCaller()).post(`/notifications/${id}/read`)).status).toBe(404);
    expect((await timeline.as(bob).post('/notifications/nonsense/read')).status).toBe(400);
    expect(await unread(bob)).toBe(1);
  });
});

const notesOf = async (tenantId: string): Promise<number> => {
  const [row] = await timeline.db.inTenant(tenantId, (tx) =>
    tx.$queryRawUnsafe<{ count: number }[]>('SELECT count(*)::int AS count FROM inbox'),
  );
  return row!.count;
};

/** The longest that a timer may take. */
const NEVER_MILLISECONDS = 2 ** 31 - 1;

describe('GET /notifications/stream', () => {
  afterEach(() => jest.restoreAllMocks());

  interface Stream {
    next(): Promise<{ id: string; data: { entryId: string; excerpt: string } }>;
    close(): void;
  }

  const open = async (caller: Caller, lastEventId?: string): Promise<Stream> => {
    const { url, headers } = timeline.as(caller).address('GET', '/notifications/stream');
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { ...headers, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = '';
    return {
      async next() {
        while (!text.includes('\n\n')) text += (await chunks.next()).value ?? '';
        const event = text.slice(0, text.indexOf('\n\n'));
        text = text.slice(event.length + 2);
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(event)?.[1] ?? '';
        expect(field('event')).toBe('notification');
        return { id: field('id'), data: JSON.parse(field('data')) };
      },
      close: () => abort.abort(),
    };
  };

  it('sends a new notification at once', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    // The stream looks for nothing by itself, so that it must be told.
    const setTimer = setTimeout;
    jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation((...[callback, milliseconds, ...values]: Parameters<typeof setTimeout>) =>
        setTimer(callback, milliseconds === POLL_MILLISECONDS ? NEVER_MILLISECONDS : milliseconds, ...values),
      );
    const stream = await open(bob);
    const entry = await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    expect((await stream.next()).data).toMatchObject({
      entryId: entry.id,
      kind: 'Mention',
      title: 'Ann mentioned you',
      body: 'Hello @Bob',
      severity: 'Info',
      isRead: false,
      excerpt: 'Hello @Bob',
    });
    stream.close();
  });

  it('continues after the last event of the client, even if that was removed', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    const first = await open(bob);
    const one = await write(ann, path, comment('one'));
    const { id } = await first.next();
    first.close();
    const two = await write(ann, path, comment('two'));
    await write(ann, path, comment('three'));
    await allEventsProcessed(timeline);

    const second = await open(bob, id);
    expect((await second.next()).data.excerpt).toBe('two');
    expect((await second.next()).data.excerpt).toBe('three');
    second.close();

    // Another replica made the second one, and its clock is behind.
    await timeline.db.inTenant(
      tenantId,
      (tx) =>
        tx.$executeRaw`UPDATE notification SET created_at = created_at - interval '5 s' WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${two.id}::uuid`,
    );
    await timeline.as(ann).delete(`${path}/entries/${one.id}`);
    const third = await open(bob, id);
    expect((await third.next()).data.excerpt).toBe('two');
    third.close();
  });

  it('reads as many as there are where an entry is removed meanwhile: a batch that is short ends what is read at once', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const { id } = await write(ann, path, comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    const removing = () => timeline.as(ann).delete(`${path}/entries/${id}`);
    const db = interruptedDatabase(timeline.db, 'notification.findMany', removing);

    const batch = await notificationStore({ db, clock: systemClock }).since(bob, 0n, 1);

    expect(batch.map(({ entry }) => entry.id)).toEqual([id]);
    expect(await unread(bob)).toBe(0);
  });

  it('begins with new notifications without `Last-Event-ID`', async () => {
    const tenantId = newId();
    const [ann, sam] = [aUser(tenantId, 'Ann'), aStaffMember(tenantId, 'Sam')];
    const path = anEntity();
    await timeline.as(sam).post(`${path}/follow`);
    await write(ann, path, comment('before'));
    await allEventsProcessed(timeline);
    const stream = await open(sam);
    await write(ann, path, comment('after'));
    expect((await stream.next()).data.excerpt).toBe('after');
    stream.close();
  });

  it('sends nothing to people who may not read entries', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    const expiring = { ...bob, permissions: [], credentialExpiresAt: Date.now() + 2_000 };
    const { url, headers } = timeline.as(expiring).address('GET', '/notifications/stream');
    const response = await fetch(url, { headers });
    await write(ann, path, comment(`Hello ${mention(bob)}`));
    await allEventsProcessed(timeline);
    expect(await unread(bob)).toBe(1);
    expect(await response.text()).not.toContain('event:');
  });

  it('ends when the credential expires', async () => {
    const caller = { ...aUser(newId(), 'Ann'), credentialExpiresAt: Date.now() + 1_000 };
    const { url, headers } = timeline.as(caller).address('GET', '/notifications/stream');
    const response = await fetch(url, { headers });
    await response.text();
    expect(Date.now()).toBeGreaterThanOrEqual(caller.credentialExpiresAt);
  });

  it('ends when the service stops, so that a new process can take over', async () => {
    const other = await startTimeline();
    const caller = aUser(newId(), 'Ann');
    const { url, headers } = other.as(caller).address('GET', '/notifications/stream');
    const response = await fetch(url, { headers });
    other.health.drain();
    await response.text();
    await other.close();
  });
});

describe('the notifications of one user', () => {
  const KEPT = 5_000;

  /** As many notifications of a user as if all of them had been made, of entries of one entity. */
  const notifyOften = (tenantId: string, userId: string, count: number) =>
    timeline.db.inTenant(tenantId, async (tx) => {
      const id = 'md5(n::text || $1)::uuid, $1::uuid';
      await tx.$executeRawUnsafe(
        `INSERT INTO entry (id, tenant_id, entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at)
         SELECT ${id}, 'Invoice', 'old', 0, 'Hello', 'ann', 'Ann', now() FROM generate_series(1, $2::int) AS n`,
        tenantId,
        count,
      );
      await tx.$executeRawUnsafe(
        `INSERT INTO notification (id, tenant_id, entry_id, user_id, sequence, kind, internal, created_at)
         SELECT ${id}, md5(n::text || $1)::uuid, $3, n, 'Entry', false, now() FROM generate_series(1, $2::int) AS n`,
        tenantId,
        count,
        userId,
      );
      await tx.$executeRawUnsafe(
        'INSERT INTO notification_count (tenant_id, user_id, last_sequence) VALUES ($1::uuid, $2, $3::bigint)',
        tenantId,
        userId,
        count,
      );
    });

  it('are the newest ones', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    await notifyOften(tenantId, bob.userId, KEPT + 48);
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);

    await write(ann, path, comment('the second to last'));
    await allEventsProcessed(timeline);
    expect((await notificationsOf(bob)).totalCount).toBe(KEPT + 49);

    await write(ann, path, comment('the last'));
    await allEventsProcessed(timeline);
    const { totalCount, items } = await notificationsOf(bob);
    expect([totalCount, items[0].body]).toEqual([KEPT, 'the last']);
  });
});
