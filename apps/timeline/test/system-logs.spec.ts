import { contactsNoted } from '@plinth/contracts/contacts/events';
import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import { settingChanged } from '@plinth/contracts/settings/events';
import { templatePublished } from '@plinth/contracts/template/events';
import { NotificationKind } from '@plinth/contracts/timeline/shapes';
import { transitionExecuted } from '@plinth/contracts/workflow/events';
import { newId } from '@plinth/kernel/uuid';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { eventually } from '@plinth/testing/eventually';
import { insertSystemLogs } from '../src/store/system-log-store';
import {
  aUser,
  allEventsProcessed,
  startTimeline,
  publishForeignEvent,
  type Timeline,
} from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const YESTERDAY = Date.now() - 86_400_000;

const aTransition = (entityId: string, position: number, more: object = {}) => ({
  entityType: 'Invoice',
  entityId,
  transitionName: 'approve',
  previousState: `State${position - 1}`,
  newState: `State${position}`,
  comment: null,
  transitionedAt: new Date(YESTERDAY + position * 1_000).toISOString(),
  transitionedBy: 'bob',
  position,
  ...more,
});
const at = (position: number) => new Date(YESTERDAY + position * 1_000).toISOString();

const bodies = async (tenantId: string, path: string, language = 'en') => {
  const { body } = await timeline
    .as(aUser(tenantId, 'Ann'))
    .get(path, { headers: { 'accept-language': language } });
  return body.items.map(({ body: text }: { body: string }) => text);
};

describe('system logs', () => {
  it('mention nobody, whatever the comment is that they repeat, and are followed all the same', async () => {
    const tenantId = newId();
    const [bob, cid] = [aUser(tenantId, 'Bob'), aUser(tenantId, 'Cid')];
    const notificationsOf = async (caller: typeof bob) =>
      (await timeline.as(caller).get('/notifications')).body.items;
    const entityId = newId();
    await timeline.as(bob).post(`/timeline/Invoice/${entityId}/follow`);
    await publishForeignEvent(timeline.natsPrefix, {
      type: transitionExecuted,
      tenantId,
      payload: aTransition(entityId, 1, {
        comment: `@[Bob](user:${bob.userId}) and @[Cid](user:${cid.userId})`,
        transitionedAt: new Date().toISOString(),
      }),
      actorId: 'ann',
      actorName: 'Ann',
    });

    expect(await eventually(async () => (await notificationsOf(bob))[0])).toMatchObject({
      kind: NotificationKind.Entry,
    });
    expect(await notificationsOf(cid)).toEqual([]);
  });

  it('show the text that another service publishes about its entities', async () => {
    const tenantId = newId();
    const [first, second] = [newId(), newId()];
    await publishForeignEvent(timeline.natsPrefix, {
      type: contactsNoted,
      tenantId,
      payload: {
        entityType: 'Contact',
        entityIds: [first, second],
        texts: { en: 'Imported.', fr: 'Importé.' },
      },
      actorId: 'bob',
      actorName: 'Bob',
    });

    for (const id of [first, second]) {
      const path = `/timeline/Contact/${id}`;
      await eventually(async () => (await bodies(tenantId, path)).length === 1);
      expect(await bodies(tenantId, path)).toEqual(['Imported.']);
      expect(await bodies(tenantId, path, 'fr-CA')).toEqual(['Importé.']);
    }
  });

  it('are written for thousands of entities of one event, and notify the followers of each', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const entityIds = Array.from({ length: 5_000 }, newId);
    const path = (id: string) => `/timeline/Contact/${id}`;
    await timeline.as(ann).post(`${path(entityIds[4_000]!)}/follow`);
    const payload = { entityType: 'Contact', entityIds, texts: { en: 'Imported.', fr: 'Importé.' } };
    const events = Array.from({ length: 4 }, () => ({
      type: contactsNoted,
      tenantId,
      payload,
      actorId: 'bob',
    }));
    await Promise.all(events.map((event) => publishForeignEvent(timeline.natsPrefix, event)));

    await eventually(async () => (await timeline.as(ann).get('/notifications')).body.items.length === 4);
    for (const id of [entityIds[0]!, entityIds[4_000]!, entityIds.at(-1)!]) {
      const { body } = await timeline.as(ann).get(path(id));
      expect(body).toMatchObject({ totalCount: 4, items: Array(4).fill({ body: 'Imported.' }) });
    }
  });

  it('show what happened, by whom and when, in the culture of the reader', async () => {
    const tenantId = newId();
    const id = newId();
    const payload = aTransition(id, 1, { previousState: 'Draft', newState: 'Approved' });
    await publishForeignEvent(timeline.natsPrefix, {
      type: transitionExecuted,
      tenantId,
      payload,
      occurredAt: at(1),
      actorId: 'bob',
      actorName: 'Bob',
    });
    const path = `/timeline/Invoice/${id}`;
    await eventually(async () => (await bodies(tenantId, path)).length === 1);
    const { items } = (await timeline.as(aUser(tenantId, 'Ann')).get(path)).body;
    expect(items[0]).toMatchObject({
      entryType: 2,
      body: 'Moved from Draft to Approved.',
      authorId: 'bob',
      authorDisplayName: 'Bob',
      createdAt: at(1),
    });
    expect(await bodies(tenantId, path, 'fr-BE, en;q=0.5')).toEqual([
      'Passé de « Brouillon » à « Approuvé ».',
    ]);
    expect(await bodies(tenantId, path, 'fr-CA')).toEqual(['Passé de « Brouillon » à « Approuvé ».']);
    expect(await bodies(tenantId, path, 'de')).toEqual(['Moved from Draft to Approved.']);
    const { status } = await timeline
      .as(aUser(tenantId, 'Max', 'Timeline.Entries.Manage'))
      .delete(`${path}/entries/${items[0].id}`);
    expect(status).toBe(403);
  });

  it('are written once and in the order of what happened, in any order of events', async () => {
    const tenantId = newId();
    const entityId = newId();
    const events = [3, 1, 2, 5, 4].map((position) => ({
      type: transitionExecuted,
      tenantId,
      payload: aTransition(entityId, position),
      occurredAt: at(position),
      id: newId(),
    }));
    await Promise.all(
      [...events, ...events, ...events].map((event) => publishForeignEvent(timeline.natsPrefix, event)),
    );
    const path = `/timeline/Invoice/${entityId}`;
    await eventually(async () => (await bodies(tenantId, path)).length >= 5);
    await allEventsProcessed(timeline);
    expect(await bodies(tenantId, path)).toEqual(
      [5, 4, 3, 2, 1].map((n) => `Moved from State${n - 1} to State${n}.`),
    );
  });

  it('notify the followers of the entity, but not the actor', async () => {
    const tenantId = newId();
    const entityId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = `/timeline/Invoice/${entityId}`;
    await timeline.as(ann).post(`${path}/follow`);
    await timeline.as(bob).post(`${path}/follow`);
    const payload = aTransition(entityId, 1, { transitionedBy: bob.userId, comment: 'fine' });
    await publishForeignEvent(timeline.natsPrefix, { type: transitionExecuted, tenantId, payload });
    await eventually(
      async () => (await timeline.as(ann).get('/notifications/unread-count')).body.count === 1,
    );
    expect((await timeline.as(ann).get('/notifications')).body.items[0]).toMatchObject({
      kind: 'Entry',
      actorId: bob.userId,
      actorDisplayName: 'Bob',
      excerpt: 'Moved from State0 to State1: fine',
    });
    expect((await timeline.as(bob).get('/notifications/unread-count')).body.count).toBe(0);
  });

  it('are written for publications of templates, once each', async () => {
    const tenantId = newId();
    const payload = { name: 'welcome', culture: 'fr-CA', revisionId: newId() };
    await publishForeignEvent(timeline.natsPrefix, { type: templatePublished, tenantId, payload });
    const moved = aTransition('welcome~fr-CA', 1, { entityType: 'Template', newState: 'Published' });
    await publishForeignEvent(timeline.natsPrefix, { type: transitionExecuted, tenantId, payload: moved });
    const drafted = aTransition('welcome~fr-CA', 2, {
      entityType: 'Template',
      newState: 'Draft',
      previousState: 'Published',
    });
    await publishForeignEvent(timeline.natsPrefix, { type: transitionExecuted, tenantId, payload: drafted });
    const path = '/timeline/Template/welcome~fr-CA';
    await eventually(async () => (await bodies(tenantId, path)).length === 2);
    expect((await bodies(tenantId, path)).sort()).toEqual(['Moved from Published to Draft.', 'Published.']);
  });

  it('say that a request for approval was overtaken, also for a template that stays published', async () => {
    const tenantId = newId();
    const payload = aTransition('welcome', 1, {
      entityType: 'Template',
      previousState: 'PendingApproval',
      newState: 'Published',
      approvalEnd: 'Overtaken',
    });
    await publishForeignEvent(timeline.natsPrefix, { type: transitionExecuted, tenantId, payload });
    const path = '/timeline/Template/welcome';
    await eventually(async () => (await bodies(tenantId, path)).length === 1);
    expect(await bodies(tenantId, path)).toEqual([
      'The request for approval was overtaken: what it was made for has been changed, moved or deleted since. Back to Published.',
    ]);
    expect(await bodies(tenantId, path, 'fr')).toEqual([
      'La demande d’approbation est caduque : ce qu’elle concernait a été modifié, déplacé ou supprimé depuis. Retour à « Publié ».',
    ]);
  });

  it('are written for finished exports and imports, without numbers of rows, which not all readers may see', async () => {
    const tenantId = newId();
    const [exportId, importId] = [newId(), newId()];
    const exported = {
      jobId: exportId,
      definitionName: 'Timeline.Entries',
      status: 'Completed',
      rowCount: 12_345,
    } as const;
    await publishForeignEvent(timeline.natsPrefix, { type: exportFinished, tenantId, payload: exported });
    const imported = {
      definitionName: 'Settings.Values',
      status: 'PartiallyCompleted',
      totalRows: 3,
      succeededRows: 2,
      failedRows: 1,
    } as const;
    await publishForeignEvent(timeline.natsPrefix, {
      type: importFinished,
      tenantId,
      payload: { ...imported, jobId: importId },
    });
    const [ofExport, ofImport] = [`/timeline/ExportJob/${exportId}`, `/timeline/ImportJob/${importId}`];
    await eventually(async () => (await bodies(tenantId, ofExport)).length === 1);
    await eventually(async () => (await bodies(tenantId, ofImport)).length === 1);
    expect(await bodies(tenantId, ofExport)).toEqual(['Export of Timeline.Entries completed.']);
    expect(await bodies(tenantId, ofExport, 'fr')).toEqual(['Export de Timeline.Entries terminé.']);
    expect(await bodies(tenantId, ofImport)).toEqual(['Import of Settings.Values partially completed.']);
  });

  it('are written for imports that were undone, without numbers of rows', async () => {
    const tenantId = newId();
    const jobId = newId();
    const payload = {
      jobId,
      definitionName: 'Settings.Values',
      status: 'PartiallyUndone',
      removedRows: 1_200,
      restoredRows: 3,
      keptRows: 1,
    } as const;
    await publishForeignEvent(timeline.natsPrefix, { type: importUndone, tenantId, payload });
    const path = `/timeline/ImportJob/${jobId}`;
    await eventually(async () => (await bodies(tenantId, path)).length === 1);
    expect(await bodies(tenantId, path)).toEqual(['Import of Settings.Values partially undone.']);
    expect(await bodies(tenantId, path, 'fr')).toEqual(['Import de Settings.Values défait en partie.']);
  });

  it('are written for settings of the tenant, and never for those of a person', async () => {
    const tenantId = newId();
    const event = (scope: 'user' | 'tenant', name: string) => ({
      type: settingChanged,
      tenantId,
      payload: { scope, userId: scope === 'user' ? 'bob' : null, names: [name] },
    });
    await publishForeignEvent(timeline.natsPrefix, event('user', 'Service.Timing.PreferredTimezone'));
    await publishForeignEvent(timeline.natsPrefix, event('tenant', 'Service.Localization.PreferredCulture'));
    const path = '/timeline/Setting/Service.Localization.PreferredCulture';
    await eventually(async () => (await bodies(tenantId, path)).length === 1);
    expect(await bodies(tenantId, path)).toEqual(['Changed for the tenant.']);
    expect(await bodies(tenantId, '/timeline/Setting/Service.Timing.PreferredTimezone')).toEqual([]);
  });

  it('of several events of a transaction count entities in one order, so that two never wait for each other', async () => {
    const tenantId = newId();
    const transactions: string[] = [];
    const write = (name: string, ...ofEach: string[][]) =>
      timeline.db.inTenant(tenantId, (tx) => {
        transactions.push(name);
        const message = { key: 'entity.noted', values: { en: 'Imported.', fr: 'Importé.' } };
        const about = { entityType: 'Contact', message, actorId: 'bob', actorName: 'Bob', at: new Date() };
        const logs = ofEach.map((entityIds) => ({ ...about, entityIds }));
        return insertSystemLogs(tx, tenantId, logs, { sharesEntries: true });
      });
    await write('before', ['a', 'b', 'x', 'y']);
    const locking = {
      text: `SELECT FROM entry_count WHERE tenant_id = $1 AND entity_id IN ('x', 'y') FOR UPDATE`,
      values: [tenantId],
    };

    await behindLock(
      timeline.database!.adminUrl,
      [locking],
      () => write('one', ['b', 'x'], ['a', 'y']),
      () => write('other', ['a', 'y'], ['b', 'x']),
    );

    // Postgres ends one of two that wait for each other, which is then repeated.
    expect(transactions).toEqual(['before', 'one', 'other']);
  });
});
