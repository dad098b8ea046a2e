import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { aFile } from './a-file';
import { startTimeline, type Timeline } from './start-timeline';

interface World {
  tenantId: string;
  as(userId: string, operationId?: string): TestClient;
  /** An entry of ann with the file. */
  entryId: string;
  replyId: string;
  blobId: string;
}

describe('two writes at the same moment', () => {
  let service: Timeline;
  beforeAll(async () => {
    service = await startTimeline();
  });
  afterAll(() => service.close());

  const post = (client: TestClient, body: object) =>
    client.post('/timeline/Order/1/entries', { entryType: 0, ...body });

  /** An entity that ann follows, with an entry, to which bob has replied. */
  const setUp = async (): Promise<World> => {
    const tenantId = newId();
    const as = (userId: string, operationId?: string) =>
      service.as(aCaller({ tenantId, userId, userName: userId, operationId }));
    for (const user of ['cem', 'bob', 'ann']) await as(user).post('/timeline/Order/1/follow');
    await as('cem').delete('/timeline/Order/1/follow');
    const blob = await as('ann').send('POST', '/blobs', aFile('a.txt', 'a'));
    const entry = await post(as('ann'), { body: 'first', attachmentBlobIds: [blob.body.id] });
    const reply = await post(as('bob'), { body: 'second', parentEntryId: entry.body.id });
    expect([entry.status, reply.status]).toEqual([201, 201]);
    return { tenantId, as, entryId: entry.body.id, replyId: reply.body.id, blobId: blob.body.id };
  };

  const writes: Record<string, Write<World>> = {
    'ann writes': ({ as }, id) => post(as('ann', id), { body: 'third' }),
    'bob mentions cem': ({ as }, id) => post(as('bob', id), { body: '@[cem](user:cem) see' }),
    'cem replies': ({ as, entryId }, id) => post(as('cem', id), { body: 'third', parentEntryId: entryId }),
    'ann deletes her entry': ({ as, entryId }, id) =>
      as('ann', id).delete(`/timeline/Order/1/entries/${entryId}`),
    'cem deletes the entry of ann': ({ as, entryId }, id) =>
      as('cem', id).delete(`/timeline/Order/1/entries/${entryId}`),
    'ann attaches the file once more': ({ as, blobId }, id) =>
      post(as('ann', id), { body: 'third', attachmentBlobIds: [blobId] }),
    'bob deletes his reply': ({ as, replyId }, id) =>
      as('bob', id).delete(`/timeline/Order/1/entries/${replyId}`),
    'cem follows': ({ as }, id) => as('cem', id).post('/timeline/Order/1/follow'),
    'cem unfollows': ({ as }, id) => as('cem', id).delete('/timeline/Order/1/follow'),
    'ann makes cem follow': ({ as }, id) => as('ann', id).put('/timeline/Order/1/followers/cem'),
    'ann ends that cem follows': ({ as }, id) => as('ann', id).delete('/timeline/Order/1/followers/cem'),
    'a note mentions cem': ({ as }, id) =>
      post(as('bob', id), { body: '@[cem](user:cem) see', entryType: 1 }),
  };

  const observe = async ({ tenantId, as, blobId }: World) => {
    const reader = as('reader');
    return Promise.all([
      reader.get('/timeline/Order/1'),
      reader.get('/timeline/Order/1/followers'),
      service
        .as(aCaller({ tenantId, userId: 'guest', permissions: ['Timeline.Entries.Read'] }))
        .get('/timeline/Order/1/followers'),
      reader.get(`/blobs?ids=${blobId}`),
    ]);
  };

  it('have an order: what is seen of them is what one after the other leads to', async () => {
    expect(
      await findUnserializable({
        setUp,
        writes,
        observe,
        // Two entries of one moment stand in the order of their times, which need not be that of their events.
        eventsOf: async ({ tenantId }) =>
          (await eventsOf(service, tenantId)).map((event) => ({
            ...event,
            subject: `${event.subject} ${(event.payload as { entryId?: string }).entryId}`,
          })),
      }),
    ).toEqual({});
  });
});
