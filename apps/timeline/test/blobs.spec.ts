import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { aFile } from './a-file';
import { aStaffMember, aUser, startTimeline, type Timeline } from './start-timeline';

const BYTES_MAX = 100_000;
let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline({
    environment: { BLOB_BYTES_MAX: String(BYTES_MAX), BLOB_TENANT_BYTES_MAX: String(4 * BYTES_MAX) },
  });
});
afterAll(() => timeline.close());

type Caller = ReturnType<typeof aCaller>;
const upload = (caller: Caller, ...file: Parameters<typeof aFile>) =>
  timeline.as(caller).send('POST', '/blobs', aFile(...file));
/** With those of all tenants that are not whole. */
const filesOf = (tenantId: string): string[] =>
  readdirSync(timeline.blobFolder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && [tenantId, '@partial'].some((part) => entry.parentPath.includes(part)),
    )
    .map(({ name }) => name);

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(50, 7)]);

describe('POST /blobs', () => {
  it('stores a file and recognizes its type by its content', async () => {
    const response = await upload(aUser(newId(), 'Ann'), 'picture.txt', png);
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/api/v1/blobs/${response.body.id}`);
    expect(response.body).toMatchObject({
      fileName: 'picture.txt',
      mimeType: 'image/png',
      sizeBytes: png.length,
      sha256: createHash('sha256').update(png).digest('hex'),
    });
  });

  it.each<[string, string, Buffer | string, string, number]>([
    ['a program for Linux', 'a.png', Buffer.from('\x7fELF\x02\x01\x01\0', 'latin1'), 'file', 415],
    ['a program for Windows', 'a.txt', Buffer.from('MZ\x90\0\x03\0', 'latin1'), 'file', 415],
    ['a script', 'a.txt', '#!/bin/sh\nrm -rf /', 'file', 415],
    ['bytes of no known format', 'a.bin', Buffer.from([1, 2, 3, 0, 255]), 'file', 415],
    ['an empty file', 'a.txt', '', 'file', 422],
    ['a body without the part "file"', 'a.txt', 'text', 'other', 422],
    ['a file that is one byte too large', 'a.txt', 'x'.repeat(BYTES_MAX + 1), 'file', 413],
    ['a file that is far too large', 'a.txt', 'x'.repeat(BYTES_MAX * 20), 'file', 413],
  ])('refuses %s and stores nothing', async (_description, name, content, part, status) => {
    const ann = aUser(newId(), 'Ann');
    const response = await upload(ann, name, content, part);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(filesOf(ann.tenantId)).toEqual([]);
  });

  it('accepts a file of exactly the largest size', async () => {
    expect((await upload(aUser(newId(), 'Ann'), 'a.txt', 'x'.repeat(BYTES_MAX))).body.sizeBytes).toBe(
      BYTES_MAX,
    );
  });

  it('refuses a request that is not a valid multipart form', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    expect((await http.post('/blobs', { file: 'x' })).status).toBe(415);
    const multipart = { headers: { 'content-type': 'multipart/form-data' }, body: 'x' };
    expect((await http.send('POST', '/blobs', multipart)).status).toBe(400);
    const cut = aFile('a.txt', 'text');
    const response = await http.send('POST', '/blobs', { ...cut, body: cut.body.subarray(0, -25) });
    expect(response.status).toBe(400);
  });

  it('stores nothing of a file whose client disconnects', async () => {
    const ann = aUser(newId(), 'Ann');
    const { url, headers } = timeline.as(ann).address('POST', '/blobs');
    const file = aFile('a.txt', 'x'.repeat(50_000));
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = Object.entries({
      ...headers,
      ...file.headers,
      'content-length': file.body.length,
      host: hostname,
    });
    socket.write(
      `POST ${pathname} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`,
    );
    socket.write(file.body.subarray(0, 30_000));
    await eventually(() => filesOf(ann.tenantId).length === 1);
    socket.destroy();
    await eventually(() => filesOf(ann.tenantId).length === 0);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\x.txt', 'x.txt'],
    ['späß 💶.txt', 'späß 💶.txt'],
    [`${'long'.repeat(100)}.txt`, /^(long)?[long]*\.txt$/],
  ])('stores the name %s as %s', async (name, stored) => {
    const { fileName } = (await upload(aUser(newId(), 'Ann'), name, 'text')).body;
    if (typeof stored === 'string') expect(fileName).toBe(stored);
    else expect(fileName).toMatch(stored);
    expect([...fileName].length).toBeLessThanOrEqual(255);
  });
});

describe('GET /blobs', () => {
  it('says names, types and sizes of the files that the caller may download, in the order of the request', async () => {
    const ann = aStaffMember(newId(), 'Ann');
    const bob = aUser(ann.tenantId, 'Bob');
    const stranger = aUser(newId(), 'Eve');
    const [own, shown, internal] = [
      (await upload(ann, 'own.txt', 'mine')).body,
      (await upload(ann, 'shown.png', png)).body,
      (await upload(ann, 'internal.txt', 'hidden')).body,
    ];
    const write = (entryType: number, attachmentBlobIds: string[]) =>
      timeline.as(ann).post('/timeline/Order/1/entries', { entryType, body: 'files', attachmentBlobIds });
    expect([(await write(0, [shown.id])).status, (await write(1, [internal.id])).status]).toEqual([201, 201]);

    const path = `/blobs?ids=${[internal.id, newId(), shown.id, own.id.toUpperCase()].join()}`;
    const namesFor = async (caller: Caller) => (await timeline.as(caller).get(path)).body;

    expect(await namesFor(ann)).toEqual([internal, shown, own]);
    expect(await namesFor(bob)).toEqual([shown]);
    expect(await namesFor(stranger)).toEqual([]);
  });

  it.each<[string, string, number]>([
    ['no ids', '', 422],
    ['an empty id', '?ids=', 400],
    ['what is no id', '?ids=x', 400],
    ['more than 100 ids', `?ids=${Array(101).fill(newId()).join()}`, 422],
  ])('refuses %s', async (_description, query, status) => {
    expect((await timeline.as(aUser(newId(), 'Ann')).get(`/blobs${query}`)).status).toBe(status);
  });

  it('wants the permission to read entries', async () => {
    const caller = aCaller({ permissions: ['Timeline.Entries.Create'] });
    expect((await timeline.as(caller).get(`/blobs?ids=${newId()}`)).status).toBe(403);
  });
});

describe('GET /blobs/{id}', () => {
  it('returns the unchanged file as a download', async () => {
    const ann = aUser(newId(), 'Ann');
    const { id } = (await upload(ann, 'späß.txt', 'text')).body;
    const response = await timeline.as(ann).get(`/blobs/${id.toUpperCase()}`);
    expect(response.status).toBe(200);
    expect(response.text).toBe('text');
    expect(response.headers.get('etag')).toBe(`"${id}"`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '4',
      'content-disposition': `attachment; filename*=UTF-8''sp%C3%A4%C3%9F.txt; filename="sp__.txt"`,
      'x-content-type-options': 'nosniff',
    });
    const exact = await timeline.as(ann).get(`/blobs/${id}`, { headers: { accept: 'text/plain' } });
    expect(exact.headers.get('content-type')).toBe('text/plain');
  });

  it('returns a file to its uploader and to callers who see an entry with it', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const { id } = (await upload(ann, 'a.txt', 'text')).body;
    const status = async (caller: Caller) => (await timeline.as(caller).get(`/blobs/${id}`)).status;
    expect([await status(ann), await status(bob), await status(aCaller())]).toEqual([200, 404, 404]);

    const path = `/timeline/Invoice/${newId()}`;
    const entry = await timeline
      .as(ann)
      .post(`${path}/entries`, { entryType: 0, body: 'x', attachmentBlobIds: [id] });
    expect(entry.body.attachmentBlobIds).toEqual([id]);
    expect((await timeline.as(bob).get(path)).body.items[0].attachmentBlobIds).toEqual([id]);
    expect([await status(ann), await status(bob), await status(aCaller())]).toEqual([200, 200, 404]);

    await timeline.as(ann).delete(`${path}/entries/${entry.body.id}`);
    expect([await status(ann), await status(bob)]).toEqual([404, 404]);
    await eventually(() => filesOf(tenantId).length === 0);
  });

  it('does not let others attach a file that they may not see, nor in another tenant', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const { id } = (await upload(ann, 'a.txt', 'text')).body;
    const attach = async (caller: Caller) =>
      (
        await timeline
          .as(caller)
          .post(`/timeline/Invoice/1/entries`, { entryType: 0, body: 'x', attachmentBlobIds: [id] })
      ).status;
    expect(await attach(bob)).toBe(422);
    expect(await attach(aCaller())).toBe(422);
    expect(await attach(ann)).toBe(201);
    expect(await attach(bob)).toBe(201);
  });
});

describe('the files of a tenant', () => {
  it('have a quota, which other tenants do not share', async () => {
    const ann = aUser(newId(), 'Ann');
    const large = 'x'.repeat(BYTES_MAX);
    for (let number = 0; number < 4; number++) expect((await upload(ann, 'a.txt', large)).status).toBe(201);
    const refused = await upload(ann, 'a.txt', 'x');
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    expect(refused.body).toMatchObject({
      type: expect.stringMatching(/quota-exceeded$/),
      quota: { name: 'attachment-bytes', scope: 'tenant', limit: 4 * BYTES_MAX, used: 4 * BYTES_MAX },
    });
    expect((await upload(aUser(newId(), 'Bob'), 'a.txt', large)).status).toBe(201);
  });

  it('take 4 kB of it at least, so that small ones are bounded in number too', async () => {
    const ann = aUser(newId(), 'Ann');
    for (const size of [BYTES_MAX, BYTES_MAX, BYTES_MAX, BYTES_MAX - 2 * 4_096, 1])
      expect((await upload(ann, 'a.txt', 'x'.repeat(size))).status).toBe(201);
    const last = await Promise.all([upload(ann, 'a.txt', 'x'), upload(ann, 'a.txt', 'x')]);
    expect(last.map(({ status }) => status).toSorted()).toEqual([201, 429]);
    expect(last.find(({ status }) => status === 429)!.body.quota.used).toBe(4 * BYTES_MAX);
  });

  it('have no more than their quota, however many are uploaded at the same time', async () => {
    const ann = aUser(newId(), 'Ann');
    const large = 'x'.repeat(BYTES_MAX);
    const uploads = await Promise.all(Array.from({ length: 8 }, () => upload(ann, 'a.txt', large)));
    expect(uploads.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429, 429, 429]);
  });
});
