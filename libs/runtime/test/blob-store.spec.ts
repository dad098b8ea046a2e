import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { startS3Server, type S3Server } from '@plinth/testing/s3-server';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { folderBlobStore } from '@plinth/runtime/blobs/folder-blob-store';
import { openBlobStore } from '@plinth/runtime/blobs/open-blob-store';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import { Health } from '@plinth/runtime/process/health';
import { eventually } from '@plinth/testing/eventually';

/** What every blob store promises, whatever keeps the files. */
function promises(open: () => BlobStore): void {
  const put = (key: string, content: string) => open().put(key, Readable.from([Buffer.from(content)]));
  const read = async (key: string, range?: { start?: number; end?: number }) =>
    text(await open().get(key, range));

  it('gives back what was stored, and tells its size and digest', async () => {
    const stored = await put('tenant/kind/greeting', 'hello');

    expect(stored).toEqual({ sizeBytes: 5, sha256: createHash('sha256').update('hello').digest('hex') });
    expect(await read('tenant/kind/greeting')).toBe('hello');
  });

  it('stores a file of many parts, and an empty one', async () => {
    const large = randomBytes(20 * 1024 * 1024 + 1);
    await open().put('tenant/large', Readable.from(inPieces(large)));
    await open().put('tenant/empty', Readable.from([]));

    expect((await buffer(await open().get('tenant/large'))).equals(large)).toBe(true);
    expect(await read('tenant/empty')).toBe('');
  });

  it('reads a part of a file, and nothing behind its end', async () => {
    await put('tenant/digits', '0123456789');

    expect(await read('tenant/digits', { start: 3 })).toBe('3456789');
    expect(await read('tenant/digits', { start: 3, end: 5 })).toBe('345');
    expect(await read('tenant/digits', { end: 1 })).toBe('01');
    expect(await read('tenant/digits', { start: 8, end: 99 })).toBe('89');
    expect(await read('tenant/digits', { start: 10 })).toBe('');
    expect(await read('tenant/digits', { start: 5, end: 4 })).toBe('');
  });

  it('replaces a file as a whole', async () => {
    await put('tenant/replaced', 'a long first text');
    await put('tenant/replaced', 'second');

    expect(await read('tenant/replaced')).toBe('second');
  });

  it('says that a file which was never stored, or was removed, is gone', async () => {
    await put('tenant/removed', 'x');
    await open().delete('tenant/removed');
    await open().delete('tenant/removed');

    await expect(open().get('tenant/removed')).rejects.toMatchObject({ kind: 'gone' });
    await expect(open().get('tenant')).rejects.toMatchObject({ kind: 'gone' });
    await expect(open().get(`tenant/${'x'.repeat(2_000)}`)).rejects.toMatchObject({ kind: 'gone' });
  });

  it.each([1, 20 * 1024 * 1024])('keeps nothing of a stream that breaks after %i bytes', async (bytes) => {
    await put('tenant/kept', 'before');

    await expect(open().put('tenant/kept', breaking(bytes))).rejects.toThrow('the client is gone');
    await expect(open().put('tenant/broken', breaking(bytes))).rejects.toThrow('the client is gone');

    expect(await read('tenant/kept')).toBe('before');
    await expect(open().get('tenant/broken')).rejects.toMatchObject({ kind: 'gone' });
  });

  it.each([
    '../outside',
    '../..',
    'tenant/../../outside',
    '.',
    '/',
    'tenant//x',
    'a b/ä%2F?#',
    '%2E%2E/x',
    'nul\0',
  ])('keeps the key %j in the store, apart from all others', async (key) => {
    await put(key, key);
    expect(await read(key)).toBe(key);
    await open().delete(key);
    await expect(open().get(key)).rejects.toMatchObject({ kind: 'gone' });
  });

  it('is usable', async () => {
    await expect(open().check()).resolves.toBeUndefined();
  });
}

/** How every blob store fails while what keeps its files is away. */
function failures(open: () => BlobStore): void {
  it('says that the store is down, and nothing about where it is', async () => {
    const content = Readable.from([Buffer.from('x')]);
    const down = { kind: 'upstream', detail: 'The blob store does not respond; try again.' };

    await expect(open().put('tenant/x', content)).rejects.toMatchObject(down);
    await expect(open().get('tenant/x')).rejects.toMatchObject(down);
    await expect(open().delete('tenant/x')).rejects.toMatchObject(down);
    await expect(open().check()).rejects.toMatchObject(down);
    expect(content.destroyed).toBe(true);
  });
}

function* inPieces(content: Buffer): Iterable<Buffer> {
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000);
}

const breaking = (bytes: number) =>
  Readable.from(
    (function* () {
      yield* inPieces(Buffer.alloc(bytes));
      throw new Error('the client is gone');
    })(),
  );

describe('a folder of files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-blobs-'));
  const files = join(folder, 'files');
  afterAll(() => rmSync(folder, { recursive: true }));

  promises(() => openBlobStore(pathToFileURL(files).href));

  it('leaves nothing half-written, and nothing beside its folder', () => {
    const names = readdirSync(folder, { recursive: true }).map(String);
    expect(names.filter((name) => name.endsWith('.partial'))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['files']);
  });

  it('has files that are not whole in a place of their own, where alone those of crashed processes are looked for', async () => {
    const root = join(folder, 'crashed');
    const store = folderBlobStore(root);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const content = async function* () {
      yield Buffer.from('half of it');
      await released;
    };
    const storing = store.put('tenant/kind/whole', Readable.from(content()));
    const partials = () => readdirSync(join(root, '@partial'));
    await eventually(() => existsSync(join(root, '@partial')) && partials().length === 1);
    const left = (...steps: string[]) => {
      const path = join(root, ...steps);
      writeFileSync(path, 'half of it');
      utimesSync(path, new Date(0), new Date(0));
    };
    left('@partial', 'crashed.partial');
    // As versions before did.
    left('tenant', 'kind', 'crashed.partial');
    expect(await store.deleteInterrupted(new Date(1_000))).toBe(2);

    left('tenant', 'kind', 'not-looked-at.partial');
    left('@partial', 'crashed.partial');
    expect(await store.deleteInterrupted(new Date(1_000))).toBe(1);
    expect(partials()).toHaveLength(1);

    release();
    await storing;
    expect(await text(await store.get('tenant/kind/whole'))).toBe('half of it');
    expect(partials()).toEqual([]);
    rmSync(root, { recursive: true });
  });

  it('has what processes of the version before left beside the others removed when it is old enough', async () => {
    const root = join(folder, 'updated');
    const left = (name: string, seconds: number) => {
      mkdirSync(join(root, 'tenant'), { recursive: true });
      writeFileSync(join(root, 'tenant', name), 'half of it');
      utimesSync(join(root, 'tenant', name), seconds, seconds);
    };
    const seconds = Date.now() / 1_000;
    const store = folderBlobStore(root);
    const removed = (second: number) => store.deleteInterrupted(new Date(second * 1_000));
    left('before-the-update.partial', seconds - 3_600);
    expect(await removed(seconds - 86_400)).toBe(0);

    left('during-the-update.partial', seconds + 3_600);
    expect(await removed(seconds + 3_000)).toBe(1);
    expect(await removed(seconds + 86_400)).toBe(1);

    left('not-looked-at.partial', 0);
    expect(await removed(seconds + 86_400)).toBe(0);
    rmSync(root, { recursive: true });
  });

  it('has nothing to remove where nothing was stored', async () => {
    expect(await folderBlobStore(join(folder, 'nowhere')).deleteInterrupted(new Date())).toBe(0);
  });

  it('fails as the store where a file breaks off while it is read', async () => {
    // A file of Linux that nobody can read from its beginning.
    const content = await openBlobStore('file:///proc/self').get('mem');

    await expect(text(content)).rejects.toMatchObject({ kind: 'upstream' });
  });

  it.each(['writes', 'flushes'])(
    'takes turns at %s between tenants, however many of one wait',
    async (kind) => {
      const turns = new FairPlaces({ places: 2, waitingMax: Infinity, refused: () => new Error() });
      const store = folderBlobStore(files, { [kind]: turns });
      const put = (key: string) => store.put(key, Readable.from([Buffer.from(key)]));
      const { promise: freed, resolve: free } = Promise.withResolvers<void>();
      const first = turns.run({ tenantId: 'greedy', userId: '' }, () => freed);
      const waiting = ['greedy/1', 'greedy/2', 'greedy/3'].map((key) => put(`${key}-${kind}`));
      await eventually(() => turns.waitingCount === waiting.length);

      await put(`modest/1-${kind}`);

      expect(turns.waitingCount).toBe(waiting.length);
      expect(await text(await store.get(`modest/1-${kind}`))).toBe(`modest/1-${kind}`);
      await expect(store.get(`greedy/1-${kind}`)).rejects.toMatchObject({ kind: 'gone' });
      free();
      await Promise.all([first, ...waiting]);
      expect(await text(await store.get(`greedy/3-${kind}`))).toBe(`greedy/3-${kind}`);
    },
  );

  describe('that cannot be used', () => {
    const broken = join(folder, 'broken');
    beforeAll(() => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(broken, 'a file, not a folder');
    });

    failures(() => openBlobStore(pathToFileURL(broken).href));
  });
});

const s3 = findOrInstall('s3');

(s3 === undefined ? describe.skip : describe)('a bucket of an S3 server', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server(s3 ?? '');
  });
  afterAll(() => server.stop());

  promises(() => openBlobStore(server.url));

  const unfinishedUploads = async () => {
    const endpoint = new URL(server.url).searchParams.get('endpoint') ?? '';
    const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
    return (await client.send(new ListMultipartUploadsCommand({ Bucket: 'plinth' }))).Uploads ?? [];
  };

  it('leaves no upload behind that was not finished', async () => {
    expect(await unfinishedUploads()).toEqual([]);
  });

  it('gets few files of slow clients at the same time, of which each is in memory in parts, and those of others meanwhile', async () => {
    const store = openBlobStore(server.url);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let begun = 0;
    const slowly = async function* () {
      begun++;
      yield Buffer.alloc(1_000);
      await released;
    };
    const slow = Array.from({ length: 12 }, (_, index) =>
      store.put(`greedy/${index}`, Readable.from(slowly())),
    );
    await eventually(() => begun > 0);

    await store.put('other/file', Readable.from([Buffer.from('x')]));
    expect(begun).toBeLessThanOrEqual(6);

    release();
    await Promise.all(slow);
    expect(begun).toBe(12);
  });

  it('stores and reads for others while many clients do not read on', async () => {
    const store = openBlobStore(server.url);
    const put = (key: string, bytes: number) => store.put(key, Readable.from(inPieces(Buffer.alloc(bytes))));
    await put('greedy/large', 40 * 1024 * 1024);
    const unread = await Promise.all(Array.from({ length: 60 }, () => store.get('greedy/large')));

    await put('other/small', 5);
    expect((await buffer(await store.get('other/small'))).length).toBe(5);

    unread.forEach((content) => content.destroy());
  });

  it('that dies in the middle of an upload is told as such, and the parts are removed when it is back', async () => {
    const store = openBlobStore(server.url);
    const content = async function* () {
      yield* inPieces(Buffer.alloc(20 * 1024 * 1024));
      await eventually(async () => (await unfinishedUploads()).length > 0);
      await server.crash();
      yield* inPieces(Buffer.alloc(20 * 1024 * 1024));
    };

    await expect(store.put('tenant/cut', Readable.from(content()))).rejects.toMatchObject({
      kind: 'upstream',
    });
    await server.restart();
    expect(await unfinishedUploads()).toHaveLength(1);

    await store.check();

    expect(await unfinishedUploads()).toEqual([]);
  });

  it('that dies in the middle of a download breaks it with a problem of the store, not of any database', async () => {
    const store = openBlobStore(server.url);
    await store.put('tenant/large', Readable.from(inPieces(randomBytes(40 * 1024 * 1024))));
    const content = await store.get('tenant/large');
    const read = async () => {
      for await (const chunk of content) if (chunk.length > 0) await server.crash();
    };

    await expect(read()).rejects.toMatchObject({ kind: 'upstream' });
    await server.restart();
  });

  it('removes old uploads that nobody finished, whoever began them', async () => {
    const endpoint = new URL(server.url).searchParams.get('endpoint') ?? '';
    const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
    for (const Key of ['files/one', 'files/two', 'others/three'])
      await client.send(new CreateMultipartUploadCommand({ Bucket: 'plinth', Key }));

    expect(await openBlobStore(server.url).deleteInterrupted(new Date(Date.now() + 60_000))).toBe(2);
    expect((await unfinishedUploads()).map(({ Key }) => Key)).toEqual(['others/three']);
  });

  it.each([
    ['another bucket', 's3://nowhere', '', 'there is no such bucket'],
    ['another secret', 's3://plinth', 'wrong', 'the credentials are refused, or may not use it'],
  ])('says where it is and why it cannot be used: %s', async (_what, bucket, secret, reason) => {
    const right = process.env['AWS_SECRET_ACCESS_KEY'];
    process.env['AWS_SECRET_ACCESS_KEY'] = secret || right;
    const url = server.url.replace('s3://plinth', bucket);
    const endpoint = new URL(url).searchParams.get('endpoint');
    const health = new Health({}, { informative: { blobs: openBlobStore(url).check } });

    expect((await health.readiness()).causes).toEqual({
      blobs: `The bucket ${bucket.slice(5)} at ${endpoint} in us-east-1: ${reason}`,
    });
    process.env['AWS_SECRET_ACCESS_KEY'] = right;
  });

  describe('that is away', () => {
    failures(() => openBlobStore('s3://plinth/files?endpoint=http://127.0.0.1:9&region=us-east-1'));
  });

  describe('that does not know the bucket', () => {
    failures(() => openBlobStore(server.url.replace('s3://plinth', 's3://nowhere')));
  });
});

it('is opened from a file or s3 address only', () => {
  expect(() => openBlobStore('http://files.example')).toThrow('use file:// or s3://');
});
