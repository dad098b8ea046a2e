import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { startJourney, type Journey } from './platform';

const EVERYDAY = [
  'Timeline.Entries.Read',
  'Timeline.Entries.Create',
  'DataExchange.Exports.Read',
  'DataExchange.Exports.Execute',
];
const STAFF = [...EVERYDAY, 'Timeline.InternalNotes.Read', 'Timeline.InternalNotes.Create'];

describe('a timeline on the whole platform', () => {
  let journey: Journey;
  beforeAll(async () => {
    journey = await startJourney();
  });

  const tenantId = newId();
  const as = async (sub: string, permissions: string[]) => {
    const token = await journey.tokenOf({ sub, name: sub, tenantId, roles: [], permissions });
    const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      journey.call(method, `/api/v1${path}`, { token, body, headers });
    return Object.assign(call, { token });
  };
  const path = '/timeline/Invoice/INV%2F1';

  it('stores an entry once, notifies at once, and stores its attachments', async () => {
    const [ann, bob] = [await as('ann', EVERYDAY), await as('bob', EVERYDAY)];
    const stream = await fetch(`${journey.url}/api/v1/notifications/stream`, {
      headers: { authorization: `Bearer ${bob.token}` },
    });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();

    const form = new FormData();
    form.append('file', new Blob(['the invoice']), 'invoice.txt');
    const uploaded = await fetch(`${journey.url}/api/v1/blobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}` },
      body: form,
    });
    const { id: blobId } = (await uploaded.json()) as { id: string };

    const entry = { entryType: 0, body: 'Right, @[Bob](user:bob)?', attachmentBlobIds: [blobId] };
    const key = { 'idempotency-key': newId() };
    const [first, again] = [
      await ann('POST', `${path}/entries`, entry, key),
      await ann('POST', `${path}/entries`, entry, key),
    ];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers.get('x-idempotency-replayed')).toBe('true');
    expect(first.headers.get('location')).toBe(`/api/v1${path}/entries/${first.body.id}`);

    // Events end with an empty line; between them the stream only says that it is still there.
    let events = '';
    while (!/^event: notification\n.*\n\n/m.test(events)) events += (await reader.read()).value!;
    expect(events).toMatch(/^id: .+\nevent: notification\ndata: \{.*"excerpt":"Right, @bob\?"/m);
    await reader.cancel();

    const page = await bob('GET', path);
    expect(page.body).toMatchObject({
      totalCount: 1,
      items: [{ id: first.body.id, attachmentBlobIds: [blobId] }],
    });
    expect((await bob('GET', `/blobs/${blobId}`)).text).toBe('the invoice');
    expect((await bob('GET', `${path}/followers`)).body).toEqual(['bob']);
    expect((await bob('GET', '/notifications/unread-count')).body).toEqual({ count: 1 });
  });

  it('shows internal notes to staff only, in the stream and in an export, whose end it records', async () => {
    const [ann, sam] = [await as('ann', EVERYDAY), await as('sam', STAFF)];
    expect((await sam('POST', `${path}/entries`, { entryType: 1, body: 'between us' })).status).toBe(201);
    const texts = (response: { body: { items: { body: string }[] } }) =>
      response.body.items.map(({ body }) => body);
    expect(texts(await sam('GET', path))).toContain('between us');
    expect(texts(await ann('GET', path))).not.toContain('between us');

    for (const [person, sees] of [
      [ann, false],
      [sam, true],
    ] as const) {
      const job = await person('POST', '/exports/jobs', {
        definitionName: 'Timeline.Entries',
        format: 'csv',
        selectedFields: ['entryType', 'body'],
        includeIdForImport: false,
        sort: 'createdAt',
        filter: { 'entityType.eq': 'Invoice' },
        presets: null,
        search: null,
      });
      expect(job.status).toBe(202);
      const status = async () => (await person('GET', `/exports/jobs/${job.body.id}`)).body.status;
      await eventually(async () => (await status()) === 'Completed');
      const { text } = await person('GET', `/exports/jobs/${job.body.id}/download`);
      expect(text.includes('between us')).toBe(sees);
      expect(text).toContain('Right, @[Bob](user:bob)?');

      const recorded = async () =>
        (await person('GET', `/timeline/ExportJob/${job.body.id}`, undefined, { 'accept-language': 'fr' }))
          .body;
      await eventually(async () => (await recorded()).totalCount === 1);
      const [log] = (await recorded()).items;
      expect(log).toMatchObject({ entryType: 2, authorId: sees ? 'sam' : 'ann' });
      // Whoever may read the timeline may not learn how many rows there are.
      expect(log.body).toBe('Export de Timeline.Entries terminé.');
    }
  });
});
