import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { FairPlaces } from '../process/fair-places';
import { s3BlobStore } from './s3-blob-store';

process.env['AWS_ACCESS_KEY_ID'] = 'key';
process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';

/** A store whose server answers as it is told. */
async function aStore(listener: RequestListener, options?: Parameters<typeof s3BlobStore>[1]) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `s3://bucket?endpoint=http://127.0.0.1:${port}&region=us-east-1`;
  return {
    store: s3BlobStore(new URL(url), options),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a file in a bucket', () => {
  const file = randomBytes(400_000);

  it.each([
    ['all of it', {}, file],
    ['a part of it', { start: 1_000, end: 350_000 }, file.subarray(1_000, 350_001)],
  ])('is read to its end though its server breaks off: %s', async (_what, range, expected) => {
    const asked: [from: number, tag: string | undefined][] = [];
    await using server = await aStore(({ headers }, response) => {
      const [, first = '0', last = `${file.length - 1}`] =
        /^bytes=(\d+)-(\d+)?$/.exec(headers.range ?? '') ?? [];
      const [from, to] = [Number(first), Number(last)];
      asked.push([from, headers['if-match']]);
      const rest = file.subarray(from, to + 1);
      response.writeHead(headers.range ? 206 : 200, { 'content-length': rest.length, etag: '"one"' });
      if (asked.length > 2) response.end(rest);
      else response.write(rest.subarray(0, 100_000), () => response.destroy());
    });

    expect((await buffer(await server.store.get('tenant/x', range))).equals(expected)).toBe(true);
    expect(asked.map(([, tag]) => tag)).toEqual([undefined, '"one"', '"one"']);
  });

  it('is given up where its client sends next to nothing and others wait', async () => {
    const uploads = new FairPlaces({ places: 1, waitingMax: Infinity, refused: () => new Error() });
    await using server = await aStore(
      (request, response) => void request.resume().once('end', () => response.end()),
      { uploads, leastRate: { bytes: 1_000, milliseconds: 60 } },
    );
    const dripping = new PassThrough();
    dripping.write('x');
    const slow = server.store.put('greedy/slow', dripping, { isSentByClient: true });
    const quick = server.store.put('modest/quick', Readable.from([Buffer.from('hello')]));

    await expect(slow).rejects.toMatchObject({ kind: 'timed-out' });
    expect(await quick).toMatchObject({ sizeBytes: 5 });
  });
});

describe('a file that is larger than one part', () => {
  const MEBIBYTE = 1024 * 1024;
  const GIBIBYTE = 1024 * MEBIBYTE;

  /** A server that takes parts and keeps their sizes, and what was done with their uploads. */
  async function aStoreInParts(options: Parameters<typeof s3BlobStore>[1] = {}) {
    const parts: number[] = [];
    const done: string[] = [];
    const server = await aStore((request, response) => {
      const { searchParams } = new URL(request.url!, 'http://bucket');
      const number = searchParams.get('partNumber');
      if (number === null) done.push(`${request.method} ${searchParams.has('uploads') ? 'begin' : 'end'}`);
      else parts[Number(number) - 1] = Number(request.headers['content-length']);
      response.setHeader('etag', '"part"');
      if (request.method === 'DELETE') response.writeHead(204);
      const answer = request.method === 'POST' ? '<Result><UploadId>one</UploadId></Result>' : '';
      request.resume().once('end', () => response.end(answer));
    }, options);
    return { ...server, parts, done };
  }

  const bytes = (count: number): Readable =>
    Readable.from(
      (function* () {
        for (let at = 0; at < count; at += MEBIBYTE) yield Buffer.alloc(Math.min(MEBIBYTE, count - at));
      })(),
      { objectMode: false },
    );

  it.each([
    ['a client sends, of which 2 GiB are taken unless an operator says otherwise', true, 2 * GIBIBYTE],
    ['a service makes, of which a tenant has room for 20 GiB unless he does', false, 3 * 20 * GIBIBYTE],
  ])('has parts of which S3 takes as many as it needs: what %s', async (_what, isSentByClient, most) => {
    await using server = await aStoreInParts();

    await server.store.put('tenant/file', bytes(40 * MEBIBYTE), { isSentByClient });

    expect(server.parts[0]! * 10_000).toBeGreaterThan(most);
    expect(new Set(server.parts.slice(0, -1)).size).toBe(1);
    expect(server.parts.reduce((sum, part) => sum + part)).toBe(40 * MEBIBYTE);
  });

  it('is refused for good where it needs more parts than S3 takes, and its parts are removed', async () => {
    await using server = await aStoreInParts({ partsOfFileMax: 2 });
    const put = (count: number) => server.store.put('tenant/file', bytes(count), { isSentByClient: true });

    await expect(put(10 * MEBIBYTE + 1)).rejects.toMatchObject({ kind: 'too-large' });
    expect(server.parts.length).toBeLessThanOrEqual(2);
    expect(server.done).toEqual(['POST begin', 'DELETE end']);

    expect(await put(10 * MEBIBYTE)).toMatchObject({ sizeBytes: 10 * MEBIBYTE });
    expect(server.done.slice(2)).toEqual(['POST begin', 'POST end']);
  });
});

describe('an upload in parts that began long ago', () => {
  const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;
  const uploads = ['ended', 'left', 'goes-on', 'aborted-elsewhere', 'without-parts']
    .map(
      (id) => `<Upload><Key>${id}</Key><UploadId>${id}</UploadId><Initiated>${day(1)}</Initiated></Upload>`,
    )
    .join('');
  const listOfParts = (lastDay: number, isTruncated = false) =>
    `<ListPartsResult><IsTruncated>${isTruncated}</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>
      <Part><PartNumber>1</PartNumber><LastModified>${day(lastDay)}</LastModified></Part></ListPartsResult>`;
  const partsOf = (id: string, marker: string | null): string => {
    if (id === 'without-parts') return '<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>';
    if (id === 'left' || id === 'aborted-elsewhere') return listOfParts(2);
    return marker === null ? listOfParts(1, true) : listOfParts(4);
  };

  it('is interrupted where no part came since, and only there, whatever ends meanwhile', async () => {
    const aborted: (string | null)[] = [];
    await using server = await aStore(({ method, url }, response) => {
      const { searchParams } = new URL(url!, 'http://bucket');
      const id = searchParams.get('uploadId');
      const isEnded = id === 'ended' || (id === 'aborted-elsewhere' && method === 'DELETE');
      if (isEnded)
        return void response.writeHead(404).end('<Error><Code>NoSuchUpload</Code><Message/></Error>');
      if (method === 'DELETE') {
        aborted.push(id);
        return void response.writeHead(204).end();
      }
      response.end(
        id === null
          ? `<ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`
          : partsOf(id, searchParams.get('part-number-marker')),
      );
    });

    expect(await server.store.deleteInterrupted(new Date(day(3)))).toBe(2);
    expect(aborted).toEqual(['left', 'without-parts']);
  });

  it.each([
    ['s3:ListBucketMultipartUploads', ({ searchParams }: URL) => searchParams.has('uploads')],
    ['s3:ListMultipartUploadParts', ({ searchParams }: URL) => searchParams.has('uploadId')],
    ['s3:AbortMultipartUpload', (_url: URL, method?: string) => method === 'DELETE'],
  ])('stays where the credentials lack %s, and the log says so', async (permission, isRefused) => {
    await using server = await aStore(({ method, url }, response) => {
      const address = new URL(url!, 'http://bucket');
      const id = address.searchParams.get('uploadId');
      if (isRefused(address, method))
        return void response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message/></Error>');
      response.end(
        id === null
          ? `<ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`
          : partsOf('left', null),
      );
    });

    await expect(server.store.deleteInterrupted(new Date(day(3)))).rejects.toMatchObject({
      message: 'The blob store does not let the platform do this.',
      cause: {
        message: expect.stringMatching(`The bucket bucket at .*: the credentials lack ${permission}\\.`),
      },
    });
  });
});
