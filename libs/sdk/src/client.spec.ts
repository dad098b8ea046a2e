import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authenticated, endpoint, permission } from '@plinth/contracts/endpoint';
import { pagedResult } from '@plinth/kernel/paged-result';
import { Timestamp } from '@plinth/contracts/schemas';
import { z } from 'zod';
import { Download } from './response';
import { createClient, createPlatformClient, type ClientOptions } from './client';
import { everyItem } from './every-item';
import { fileFrom, saveTo } from './node-files';

const Thing = z.object({ name: z.string(), madeAt: Timestamp });
const access = authenticated;
const contract = {
  getThing: endpoint({
    method: 'GET',
    path: '/things/:name',
    summary: 'Read',
    access,
    params: z.object({ name: z.string() }),
    query: z.object({ culture: z.string().optional() }),
    success: { status: 200, body: Thing },
  }),
  checkThing: endpoint({
    method: 'POST',
    path: '/things/:name/check',
    summary: 'Check',
    access,
    params: z.object({ name: z.string() }),
    body: z.object({ name: z.string() }),
    repeatable: true,
    rateLimitClass: 'expensive',
    success: { status: 204 },
  }),
  putThing: endpoint({
    method: 'PUT',
    path: '/things/:name',
    summary: 'Write',
    access: permission('Settings.Tenant.Manage'),
    params: z.object({ name: z.string() }),
    body: z.object({ name: z.string() }),
    success: { status: 204 },
    ifMatch: true,
  }),
  listThings: endpoint({
    method: 'GET',
    path: '/things',
    summary: 'List',
    access,
    list: { filterable: {}, sortable: [], defaultSort: 'name', searchable: [], cursor: true },
    success: { status: 200, body: pagedResult(Thing) },
  }),
  uploadThing: endpoint({
    method: 'POST',
    path: '/things',
    summary: 'Upload',
    access,
    upload: true,
    success: { status: 201, body: Thing },
  }),
  downloadThing: endpoint({
    method: 'GET',
    path: '/things/:name/file',
    summary: 'Download',
    access,
    params: z.object({ name: z.string() }),
    success: { status: 200, file: ['text/csv'] },
    alternatives: [{ status: 204 }],
  }),
  watchThings: endpoint({
    method: 'GET',
    path: '/things/events',
    summary: 'Watch',
    access,
    success: { status: 200, events: true },
  }),
};

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Reply = (res: ServerResponse, received: Received) => void;

let server: Server;
let replies: Reply[];
let received: Received[];
let waits: number[];
beforeEach(async () => {
  [replies, received, waits] = [[], [], []];
  server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = req;
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    (replies.shift() ?? replyWith(500, {}))(res, received.at(-1)!);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
);

const replyWith =
  (status: number, body?: unknown, headers: Record<string, string> = {}): Reply =>
  (res) => {
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    res.writeHead(status, { 'content-type': type, ...headers });
    res.end(body === undefined ? undefined : JSON.stringify(body));
  };
const problem = (status: number, headers?: Record<string, string>, parts: object = {}) =>
  replyWith(
    status,
    { type: 'about:blank', title: 'Sorry', status, detail: 'No.', instance: '/', ...parts },
    headers,
  );

const baseUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = (options: Partial<ClientOptions> = {}) =>
  createClient(contract, {
    baseUrl: baseUrl(),
    token: 'secret',
    wait: async (milliseconds) => void waits.push(milliseconds),
    ...options,
  });
/** A response that never comes. */
const untilAborted = (init: RequestInit | undefined): Promise<never> =>
  new Promise((_, reject) =>
    init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error)),
  );
type Platform = ReturnType<typeof createPlatformClient>;
const thing = { name: 'a', madeAt: '2026-11-21T10:00:00.000Z' };

describe('a request of the SDK', () => {
  it('has the URL and headers of its contract, and returns body, entity tag and location', async () => {
    replies = [replyWith(200, thing, { etag: '"1"', location: '/here' })];
    const response = await client({ tenantId: 'other', token: async () => 'fresh' }).getThing({
      params: { name: 'a/b ü' },
      query: { culture: 'fr' },
    });

    expect(response).toMatchObject({
      status: 200,
      body: thing,
      etag: '"1"',
      location: '/here',
      isReplay: false,
    });
    expect(response.body.madeAt.length).toBe(24);
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: '/api/v1/things/a%2Fb%20%C3%BC?culture=fr',
      headers: { authorization: 'Bearer fresh', 'x-tenant-id': 'other' },
    });
    expect(received[0]!.headers['idempotency-key']).toBeUndefined();
  });

  it('sends what may be repeated without an idempotency key, so that no response is stored', async () => {
    replies = [replyWith(204)];
    await client().checkThing({ params: { name: 'a' }, body: { name: 'b' } });
    expect(received[0]).toMatchObject({ method: 'POST' });
    expect(received[0]!.headers['idempotency-key']).toBeUndefined();
  });

  it('has list queries in the grammar of the interface', async () => {
    replies = [replyWith(200, { items: [], totalCount: 0, hasMore: false })];
    await client().listThings({
      list: {
        page: 2,
        sort: '-name',
        filter: { 'name.contains': '50%' },
        presets: { age: 'new' },
        search: 'a&b',
      },
    });
    expect(decodeURIComponent(received[0]!.url)).toBe(
      '/api/v1/things?page=2&sort=-name&search=a&b&filter[name.contains]=50%&presets[age]=new',
    );
  });

  it('is not sent when its parameters cannot be written in a URL', async () => {
    await expect(client().getThing({ params: { name: '..' } })).rejects.toThrow(RangeError);
    expect(received).toEqual([]);
  });

  it('returns 304 without a body', async () => {
    replies = [replyWith(304)];
    const response = await client().getThing({ params: { name: 'a' }, ifNoneMatch: '"1"' });
    expect(response).toMatchObject({ status: 304, body: undefined });
    expect(received[0]!.headers['if-none-match']).toBe('"1"');
  });

  it('does not compile without the parameters of its endpoint', () => {
    const typed = client();
    // @ts-expect-error params are missing
    const withoutParams = () => typed.getThing();
    // @ts-expect-error the body is missing
    const withoutBody = () => typed.putThing({ params: { name: 'a' } });
    // @ts-expect-error a name is text
    const withNumber = () => typed.putThing({ params: { name: 'a' }, body: { name: 1 } });
    expect([withoutParams, withoutBody, withNumber]).toHaveLength(3);
  });
});

describe('what takes the platform long', () => {
  const inPlatform = { params: { name: 'a', jobId: 'b' } };
  it.each([
    ['a rendering', (platform: Platform) => platform.template.renderTemplate(inPlatform)],
    [
      'a batch of renderings',
      (platform: Platform) => platform.template.renderTemplateBatch({ ...inPlatform, body: { items: [] } }),
    ],
    ['the preview of an import', (platform: Platform) => platform.dataExchange.previewImport(inPlatform)],
  ])('%s has all of its time: no key, with which it would have 25 s', async (_name, call) => {
    jest.useFakeTimers();
    try {
      let sent: RequestInit | undefined;
      const neverRespond: typeof fetch = (_address, init) => {
        sent = init;
        return new Promise(() => {});
      };
      void call(createPlatformClient({ baseUrl: 'http://platform.example', fetch: neverRespond }));
      await jest.advanceTimersByTimeAsync(300_000);
      expect(sent).toMatchObject({ method: 'POST', signal: { aborted: false } });
      expect(Object.keys(sent!.headers!)).not.toContain('idempotency-key');
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('an error response in the SDK', () => {
  it('is thrown as a problem with status, slug, errors and trace id', async () => {
    const errors = { name: ['Service:Validation:NotEmptyValidator'] };
    replies = [problem(422, {}, { type: 'https://x/problems/thing-wrong', errors, traceId: 'abc' })];
    const failure = await client()
      .putThing({ params: { name: 'a' }, body: { name: '' } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'ApiProblem',
      status: 422,
      slug: 'thing-wrong',
      errors,
      traceId: 'abc',
    });
  });

  it('is thrown as a problem also when a proxy responded in another form', async () => {
    replies = [(res) => res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>')];
    await expect(client().getThing({ params: { name: 'a' } })).rejects.toMatchObject({
      status: 404,
      slug: undefined,
    });
    replies = [replyWith(404, { error: 'Not here' })];
    await expect(client().getThing({ params: { name: 'a' } })).rejects.toMatchObject({
      problem: { status: 404, instance: '/api/v1/things/a' },
    });
  });
});

describe('retries of the SDK', () => {
  it('repeat requests without a response and those the platform could not process, under one idempotency key', async () => {
    replies = [
      (res) => void res.destroy(),
      problem(503, { 'retry-after': '3' }),
      problem(409, { 'retry-after': '1' }),
      replyWith(204, undefined, { 'x-idempotency-replayed': 'true' }),
    ];
    const response = await client().putThing({ params: { name: 'a' }, body: { name: 'b' }, ifMatch: '"1"' });

    expect(response).toMatchObject({ status: 204, isReplay: true });
    const keys = new Set(received.map(({ headers }) => headers['idempotency-key']));
    expect([received.length, keys.size]).toEqual([4, 1]);
    expect([...keys][0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(waits[1]).toBeGreaterThanOrEqual(3_000);
    expect(received.map(({ body }) => body)).toEqual(received.map(() => '{"name":"b"}'));
  });

  it('send what the body was when the function was called, which has the same idempotency key', async () => {
    replies = [problem(503), replyWith(204)];
    const body = { name: 'b' };
    const token = () => (body.name += 'c');
    await client({ token }).putThing({ params: { name: 'a' }, body });

    expect(received.map(({ body }) => body)).toEqual(received.map(() => '{"name":"b"}'));
  });

  it.each([400, 401, 403, 404, 409, 422, 500])(
    'do not repeat requests that failed with %i',
    async (status) => {
      replies = [problem(status)];
      await expect(client().getThing({ params: { name: 'a' } })).rejects.toMatchObject({ status });
      expect(received).toHaveLength(1);
    },
  );

  it('end after the maximum number of attempts', async () => {
    replies = [1, 2, 3].map(() => problem(503));
    const stubborn = client({ retry: { attemptsMax: 3 } });
    await expect(stubborn.getThing({ params: { name: 'a' } })).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(3);
  });

  it('end with the attempt that took longer than all of them may', async () => {
    let attempts = 0;
    const neverRespond: typeof fetch = async (_address, init) => {
      attempts++;
      return untilAborted(init);
    };
    const hasty = client({
      timeoutMilliseconds: 100,
      fetch: neverRespond,
      retry: { periodMilliseconds: 50 },
    });
    await expect(hasty.getThing({ params: { name: 'a' } })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(attempts).toBe(1);
  });

  it('end where the next attempt would begin too late', async () => {
    const waits: number[] = [];
    const busy = client({
      fetch: async () =>
        new Response(JSON.stringify({ status: 429, title: 'Too Many Requests' }), {
          status: 429,
          headers: { 'content-type': 'application/problem+json', 'retry-after': '60' },
        }),
      wait: async (milliseconds) => void waits.push(milliseconds),
      retry: { periodMilliseconds: 15_000 },
    });
    await expect(busy.getThing({ params: { name: 'a' } })).rejects.toMatchObject({ status: 429 });
    expect(waits).toEqual([]);
  });

  it('wait for the gateway to say that a service does not respond: longer for what is expensive', async () => {
    jest.useFakeTimers();
    try {
      const started: AbortSignal[] = [];
      const neverRespond: typeof fetch = async (_address, init) => {
        started.push(init!.signal!);
        return new Promise(() => {});
      };
      const waiting = client({ fetch: neverRespond });
      void waiting.getThing({ params: { name: 'a' } });
      void waiting.checkThing({ params: { name: 'a' }, body: { name: 'b' } });
      await jest.advanceTimersByTimeAsync(32_000);
      expect(started.map(({ aborted }) => aborted)).toEqual([false, false]);
      await jest.advanceTimersByTimeAsync(270_000);
      expect(started.map(({ aborted }) => aborted)).toEqual([true, false]);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(started.map(({ aborted }) => aborted)).toEqual([true, true]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('repeat requests that timed out', async () => {
    let attempts = 0;
    const respondToSecondAttempt: typeof fetch = async (_address, init) => {
      if (++attempts === 2) return Response.json(thing);
      return untilAborted(init);
    };
    const patient = client({ timeoutMilliseconds: 100, fetch: respondToSecondAttempt });
    expect((await patient.getThing({ params: { name: 'a' } })).body.name).toBe('a');
  });

  it('repeat requests whose response stops in the middle', async () => {
    const written = Promise.withResolvers<void>();
    const half: Reply = (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{"name":', () => written.resolve());
    };
    replies = [half, replyWith(200, thing)];
    // Time passes for the first attempt only, however long the network takes.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    try {
      const response = client({ timeoutMilliseconds: 100 }).getThing({ params: { name: 'a' } });
      await written.promise;
      jest.advanceTimersByTime(100);
      expect((await response).body.name).toBe('a');
    } finally {
      jest.useRealTimers();
    }

    const cut: Reply = (res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      res.write('{"name":', () => res.destroy());
    };
    replies = [cut, replyWith(200, thing)];
    expect((await client().getThing({ params: { name: 'a' } })).body.name).toBe('a');
  });

  describe('of what is expensive', () => {
    const check = () => client().checkThing({ params: { name: 'a' }, body: { name: 'b' } });
    /** Begins as a success, and breaks off behind this. */
    const breakOff =
      (...written: string[]): Reply =>
      (res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        written.forEach((part) => res.write(part));
        res.write(' ', () => res.destroy());
      };

    it('do not begin it again where its response breaks off', async () => {
      for (const written of [[], ['{"name":"a"'], ['{"name":"a"}']]) {
        replies = [breakOff(...written), replyWith(204)];
        await expect(check()).rejects.toMatchObject({ name: 'ApiProblem', status: 502 });
      }
      expect(received).toHaveLength(3);
    });

    it('end with the problem behind which its response breaks off', async () => {
      const damaged = {
        type: 'https://x/problems/file-damaged',
        title: 'Damaged',
        status: 422,
        detail: 'Row 9.',
      };
      replies = [breakOff('  ', JSON.stringify(damaged)), replyWith(204)];
      await expect(check()).rejects.toMatchObject({ name: 'ApiProblem', status: 422, slug: 'file-damaged' });
      expect(received).toHaveLength(1);
    });

    it('do not begin it again where it took longer than the gateway waits', async () => {
      const tooLong = {
        type: 'https://x/problems/area-timed-out',
        title: 'No response in time',
        status: 503,
        detail: 'The template service did not respond in time.',
      };
      replies = [replyWith(503, tooLong), replyWith(204)];
      await expect(check()).rejects.toMatchObject({ status: 503, slug: 'area-timed-out' });
      expect(received).toHaveLength(1);

      // Under a key it is done once, and the next attempt has the result.
      received.length = 0;
      replies = [replyWith(503, tooLong), replyWith(204)];
      await client().putThing({ params: { name: 'a' }, body: { name: 'b' } });
      expect(received).toHaveLength(2);
    });

    it('do not begin it again where it took longer than the client waits', async () => {
      let attempts = 0;
      const neverRespond: typeof fetch = async (_address, init) => {
        attempts++;
        return untilAborted(init);
      };
      const hasty = client({ timeoutMilliseconds: 100, fetch: neverRespond });
      const checked = hasty.checkThing({ params: { name: 'a' }, body: { name: 'b' } });
      await expect(checked).rejects.toMatchObject({ name: 'TimeoutError' });
      expect(attempts).toBe(1);
    });

    it('begin it again where nothing of a response came, or the platform says that it can be tried again', async () => {
      const away = { type: 'about:blank', title: 'Sorry', status: 503, detail: 'No.' };
      replies = [(res) => void res.destroy(), breakOff(JSON.stringify(away)), replyWith(204)];
      expect((await check()).status).toBe(204);
    });
  });

  it('are sent once more with another token, where there is one', async () => {
    let token = 'old';
    const refused: string[] = [];
    const renewToken = async (former: string) => {
      refused.push(former);
      token = 'new';
      return true;
    };
    const renewing = client({ token: () => token, renewToken, retry: { attemptsMax: 1 } });
    replies = [problem(401), replyWith(201, thing)];
    await renewing.uploadThing({ file: new Blob(['a']) });
    expect(refused).toEqual(['old']);
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);

    replies = [problem(401), problem(401)];
    await expect(renewing.getThing({ params: { name: 'a' } })).rejects.toMatchObject({ status: 401 });
    replies = [problem(401)];
    const withoutAnother = client({ renewToken: () => Promise.resolve(false) });
    await expect(withoutAnother.getThing({ params: { name: 'a' } })).rejects.toMatchObject({ status: 401 });
    expect(received).toHaveLength(5);
  });

  it('stop when the caller aborts', async () => {
    replies = [() => {}];
    const abort = new AbortController();
    const call = client().getThing({ params: { name: 'a' }, signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('stop when the caller aborts while somebody has yet to sign in', async () => {
    replies = [problem(401)];
    const abort = new AbortController();
    const renewToken = () => {
      setImmediate(() => abort.abort());
      return new Promise<boolean>(() => undefined);
    };
    const call = client({ renewToken }).getThing({ params: { name: 'a' }, signal: abort.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('lists in the SDK', () => {
  it('are read to their end by cursor', async () => {
    const page = (name: string, nextCursor: string | null) =>
      replyWith(200, {
        items: [{ ...thing, name }],
        totalCount: null,
        hasMore: nextCursor !== null,
        nextCursor,
      });
    replies = [page('a', 'c1'), page('b', 'c2'), page('c', null)];

    const names: string[] = [];
    for await (const { name } of everyItem(client().listThings, { list: { pageSize: 1 } })) names.push(name);

    expect(names).toEqual(['a', 'b', 'c']);
    expect(received.map(({ url }) => new URL(url, 'http://x').searchParams.get('cursor'))).toEqual([
      '',
      'c1',
      'c2',
    ]);
  });
});

describe('files in the SDK', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sdk-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are uploaded from disk as a form, without an idempotency key and never twice', async () => {
    const path = join(folder, 'données.csv');
    await writeFile(path, 'a,b\n1,2\n');
    replies = [problem(503)];
    const upload = client().uploadThing({ ...(await fileFrom(path)), fields: { definitionName: 'Things' } });

    await expect(upload).rejects.toMatchObject({ status: 503 });
    expect(received).toHaveLength(1);
    expect(received[0]!.headers['content-length']).toBe(String(Buffer.byteLength(received[0]!.body)));
    expect(received[0]!.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(received[0]!.headers['idempotency-key']).toBeUndefined();
    expect(received[0]!.body).toMatch(
      /name="definitionName"\r\n\r\nThings[^]*filename="données.csv"[^]*a,b\n1,2\n/,
    );
  });

  it('are read from disk as the network takes them, and kept by nobody for a redirect', async () => {
    const path = join(folder, 'large "one".csv');
    const content = 'a,b\n'.repeat(1_000_000);
    await writeFile(path, content);
    const { file, ...rest } = await fileFrom(path);
    const slice = jest.spyOn(File.prototype, 'slice');
    let sent: RequestInit = {};
    const fetch: typeof globalThis.fetch = (_url, init) => {
      sent = init!;
      return Promise.resolve(Response.json(thing, { status: 201 }));
    };
    await client({ fetch }).uploadThing({ file, ...rest, fields: { definitionName: 'Things' } });

    expect(sent).toMatchObject({ redirect: 'error', window: null });
    const reader = (sent.body as ReadableStream<Uint8Array>).getReader();
    expect(slice).not.toHaveBeenCalled();
    const parts = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parts.push(next.value);
      expect(slice.mock.calls.length).toBeLessThanOrEqual(parts.length);
    }
    slice.mockRestore();

    const form = await new Response(new Blob(parts), { headers: sent.headers! }).formData();
    const received = form.get('file') as File;
    expect([form.get('definitionName'), received.name]).toEqual(['Things', 'large "one".csv']);
    expect((await received.text()) === content).toBe(true);
  });

  it('have the length that they are sent with, whatever their names and fields are', async () => {
    const path = join(folder, 'données "😀".csv');
    const content = 'ä,b\n'.repeat(200_000);
    await writeFile(path, content);
    replies = [replyWith(201, thing)];
    await client().uploadThing({ ...(await fileFrom(path)), fields: { definitionName: 'Größe\r\n', b: '' } });

    const { headers, body } = received[0]!;
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    expect(body.includes(content)).toBe(true);
  });

  it('are sent once more from the beginning where the token was refused', async () => {
    const path = join(folder, 'a.csv');
    await writeFile(path, 'a,b\n');
    replies = [problem(401), replyWith(201, thing)];
    await client({ renewToken: () => Promise.resolve(true) }).uploadThing(await fileFrom(path));

    expect(received.map(({ body }) => body.includes('a,b\n'))).toEqual([true, true]);
  });

  it('are downloaded to disk under the name that the platform gave', async () => {
    replies = [
      (res) =>
        res
          .writeHead(200, {
            'content-type': 'application/octet-stream',
            'content-disposition': `attachment; filename*=UTF-8''donn%C3%A9es.csv; filename="donn_es.csv"`,
          })
          .end('a,b\n'),
    ];
    const { body } = await client().downloadThing({ params: { name: 'a' } });
    if (!(body instanceof Download)) throw new Error('There is a file.');
    expect(body.fileName).toBe('données.csv');

    await saveTo(body, join(folder, body.fileName!));
    expect(await readFile(join(folder, 'données.csv'), 'utf8')).toBe('a,b\n');
    expect(await readdir(folder)).toEqual(['données.csv']);
  });

  it.each([
    [`attachment; filename*=UTF-8''..%2F..%2F.bashrc`, 'bashrc'],
    [`attachment; filename="..\\..\\x.cmd"`, 'x.cmd'],
    [`attachment; filename*=UTF-8''C%3Ax%0D%0A.csv`, 'x.csv'],
    [`attachment; filename*=UTF-8''%2F..`, undefined],
    [`attachment; filename*=UTF-8''%ff`, undefined],
  ])('have no name that leads out of a folder: %s', (header, name) => {
    const response = new Response('', { headers: { 'content-disposition': header } });
    expect(new Download(response).fileName).toBe(name);
  });

  it('leave nothing behind when a download is cut off', async () => {
    replies = [
      (res) => {
        res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '100' });
        res.write('half');
        setImmediate(() => res.destroy());
      },
    ];
    const { body } = await client().downloadThing({ params: { name: 'a' } });
    await expect(saveTo(body as Download, join(folder, 'file'))).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
  });

  it('may be absent', async () => {
    replies = [replyWith(204)];
    expect((await client().downloadThing({ params: { name: 'a' } })).body).toBeUndefined();
  });
});

describe('server-sent events in the SDK', () => {
  it('are read as they arrive, without the heartbeats', async () => {
    replies = [
      (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(': still here\n\nid: 1\nevent: progress\nda');
        res.end('ta: {"rows":1}\n\nevent: progress\ndata: {"rows":\ndata: 2}\n\n');
      },
    ];
    const { body } = await client().watchThings();
    const events = [];
    for await (const event of body) events.push(event);
    expect(events).toEqual([
      { id: '1', event: 'progress', data: { rows: 1 } },
      { id: undefined, event: 'progress', data: { rows: 2 } },
    ]);
  });
});

describe('the client of the whole platform', () => {
  it('has a function for every endpoint of every service', async () => {
    replies = [replyWith(200, { 'a.b': 'c' })];
    const { localization, settings, dataExchange } = createPlatformClient({ baseUrl: `${baseUrl()}/` });
    const { body } = await localization.listLocalizationOverrides({
      query: { resourceName: 'Shop', cultureName: 'fr' },
    });
    expect(body['a.b']).toBe('c');
    expect(received[0]!.url).toBe('/api/v1/localization/overrides?resourceName=Shop&cultureName=fr');
    expect(typeof settings.getSettings).toBe('function');
    expect(typeof dataExchange.uploadImport).toBe('function');
  });
});
