import { once } from 'node:events';
import { Agent, request as requestWith, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { anonymous, authenticated, endpoint, permission } from '@plinth/contracts/endpoint';
import { pagedResult } from '@plinth/kernel/paged-result';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { CALLER_HEADER, signCaller } from '@plinth/runtime/rpc/signed-caller';
import { Health } from '@plinth/runtime/process/health';
import { aCaller, serveForTest, TEST_KEYS, type TestServer } from '@plinth/testing/http';
import { z } from 'zod';
import { createService } from '@plinth/http/api';
import { created, events, file, noContent, type FilePart } from '@plinth/http/response';
import { COUNTED_IN_PASSING_MAX, totalCountOf } from '@plinth/http/total-count';
import { serviceContext } from './service-context';

const Thing = z.object({ id: z.string(), size: z.int() });
const byId = z.object({ id: z.string() });

const endpoints = {
  getThing: endpoint({
    method: 'GET',
    path: '/things/:id',
    summary: 'Read a thing',
    access: authenticated,
    params: byId,
    query: z.object({ unit: z.enum(['m', 'ft']).optional() }),
    success: { status: 200, body: Thing },
    cache: 'user-data',
    etag: true,
  }),
  listThings: endpoint({
    method: 'GET',
    path: '/things',
    summary: 'List things',
    access: permission('Timeline.Entries.Read'),
    list: { filterable: {}, sortable: ['id'], defaultSort: 'id', searchable: [], cursor: true },
    success: { status: 200, body: pagedResult(Thing) },
    cache: 'list',
  }),
  listManyThings: endpoint({
    method: 'GET',
    path: '/many-things',
    summary: 'List many things',
    access: authenticated,
    list: { filterable: {}, sortable: ['id'], defaultSort: 'id', searchable: [] },
    success: { status: 200, body: pagedResult(Thing) },
    cache: 'list',
  }),
  addThing: endpoint({
    method: 'POST',
    path: '/things',
    summary: 'Add a thing',
    access: authenticated,
    body: z.object({
      id: z.string().min(1).max(10),
      size: z.int().min(1),
      colour: z.enum(['red', 'blue']).optional(),
      parts: z.array(z.object({ name: z.string() })).optional(),
    }),
    success: { status: 201, body: Thing },
  }),
  touchThing: endpoint({
    method: 'POST',
    path: '/things/:id/touch',
    summary: 'Touch a thing',
    access: authenticated,
    body: z.object({ hard: z.boolean().optional() }).nullish(),
    success: { status: 204 },
  }),
  downloadThing: endpoint({
    method: 'GET',
    path: '/things/:id/file',
    summary: 'Download a thing',
    access: authenticated,
    success: { status: 200, file: ['application/pdf'] },
    cache: 'none',
  }),
  downloadStored: endpoint({
    method: 'GET',
    path: '/stored/:id',
    summary: 'Download a stored file',
    access: authenticated,
    success: { status: 200, file: ['application/pdf'] },
    cache: 'none',
    etag: true,
    ranges: true,
  }),
  watchThing: endpoint({
    method: 'GET',
    path: '/things/:id/events',
    summary: 'Watch a thing',
    access: authenticated,
    success: { status: 200, events: true },
    cache: 'none',
  }),
  breakThing: endpoint({
    method: 'POST',
    path: '/things/:id/break',
    summary: 'Fail',
    access: anonymous,
    success: { status: 204 },
  }),
};

const MANY_THINGS = 5_000;
/** Longer than a service looks back, to say whether it is busy. */
const BUSY_MILLISECONDS = 200;

/** How far things were counted, and how many lists had a place for that meanwhile. */
const counts: { limit: number | undefined; countings: number }[] = [];

const countingsNow = async (): Promise<number> => {
  const metric = await context.metrics.getSingleMetric('plinth_places_taken')!.get();
  return metric.values.find(({ labels }) => labels['places'] === 'countings')!.value;
};

const context = serviceContext(TEST_KEYS, new Health({ store: async () => undefined }));

/** Contents without an end that were opened. */
const endless: Readable[] = [];
const openEndless = (): Readable => {
  const content = new Readable({ read: () => undefined });
  endless.push(content);
  return content;
};

let server: TestServer;
beforeAll(async () => {
  const rows = Array.from({ length: 45 }, (_, index) => ({
    id: String(index).padStart(3, '0'),
    size: index,
  }));
  const app = createService('things', endpoints, context, (api) => {
    api.on(endpoints.getThing, ({ params }) => ({ id: params.id, size: 7 }));
    api.on(endpoints.listThings, ({ list }) => {
      const after = list.after?.[0] as string | undefined;
      const from = after === undefined ? list.offset : rows.findIndex(({ id }) => id > after);
      return list.toPage(
        rows.slice(from, from + list.limit),
        rows.length,
        (row) => row,
        ({ id }) => [id],
      );
    });
    api.on(endpoints.listManyThings, async ({ list }) => {
      const totalCount = await totalCountOf(list, async (limit) => {
        counts.push({ limit, countings: await countingsNow() });
        return Math.min(MANY_THINGS, limit ?? Infinity);
      });
      return list.toPage(rows.slice(0, list.limit), totalCount, (row) => row);
    });
    api.on(endpoints.addThing, ({ body }) => created({ id: body.id, size: body.size }, `/things/${body.id}`));
    api.on(endpoints.touchThing, ({ body }) => {
      const end = performance.now() + (body?.hard ? BUSY_MILLISECONDS : 0);
      while (performance.now() < end);
      return noContent();
    });
    api.on(endpoints.downloadThing, ({ params }) =>
      file({
        content: params['id'] === 'endless' ? openEndless() : Buffer.from('%PDF'),
        name: params['id']!,
        type: 'application/pdf',
      }),
    );
    api.on(endpoints.watchThing, () =>
      events(
        (async function* () {
          for await (const data of openEndless()) yield { event: 'changed', data };
        })(),
      ),
    );
    const digits = '0123456789';
    api.on(endpoints.downloadStored, ({ params }) => {
      const open = async (part?: FilePart) =>
        params['id'] === 'endless'
          ? openEndless()
          : Readable.from([Buffer.from(digits.slice(part?.start ?? 0, part ? part.end + 1 : undefined))]);
      const content = { sizeBytes: digits.length, open };
      return file({ content, name: 'digits.pdf', type: 'application/pdf' }, { etag: '"1"' });
    });
    api.on(endpoints.breakThing, () => {
      throw new Error('SELECT secret FROM table at /srv/app.js');
    });
  });
  server = await serveForTest(app);
});
afterAll(() => server.close());

const http = () => server.as(aCaller());
const problem = (status: number) => ({
  status,
  type: expect.any(String),
  title: expect.any(String),
  detail: expect.any(String),
  instance: expect.any(String),
  traceId: expect.any(String),
});

describe('a download of a stored file', () => {
  const download = (headers: Record<string, string> = {}) => http().get('/stored/1', { headers });
  const headersOf = ({ headers }: { headers: Headers }) => [
    headers.get('content-range'),
    headers.get('content-length'),
    headers.get('etag'),
  ];

  it('is whole without a range, and says that it has ranges', async () => {
    const whole = await download();
    expect([whole.status, whole.text, ...headersOf(whole)]).toEqual([200, '0123456789', null, '10', '"1"']);
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
  });

  it.each([
    ['bytes=3-', '3456789', 'bytes 3-9/10'],
    ['bytes=3-5', '345', 'bytes 3-5/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
  ])('is continued with %s', async (range, text, contentRange) => {
    for (const condition of [{}, { 'if-range': '"1"' }]) {
      const part = await download({ range, ...condition });
      expect([part.status, part.text, ...headersOf(part)]).toEqual([
        206,
        text,
        contentRange,
        String(text.length),
        '"1"',
      ]);
    }
  });

  it.each<Record<string, string>>([
    { range: 'bytes=3-5', 'if-range': '"0"' },
    { range: 'bytes=3-5', 'if-range': 'W/"1"' },
    { range: 'bytes=3-5', 'if-range': 'Sun, 22 Nov 2026 12:00:00 GMT' },
    { range: 'bytes=0-1,4-5' },
    { range: 'lines=3-5' },
    { range: 'nonsense' },
  ])('is whole with %j', async (headers) => {
    const whole = await download(headers);
    expect([whole.status, whole.text]).toEqual([200, '0123456789']);
  });

  it('is refused with its size for what lies behind its end', async () => {
    const refused = await download({ range: 'bytes=10-' });
    expect([refused.status, refused.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect(refused.body).toMatchObject(problem(416));
  });

  it('is not sent again to who has it', async () => {
    const unchanged = await download({ 'if-none-match': '"1"' });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    // What belongs to the content is sent with it only.
    expect(unchanged.headers.get('content-type')).toBeNull();
    expect(unchanged.headers.get('content-disposition')).toBeNull();
  });
});

describe('HEAD', () => {
  /** Sends a request on the one connection of its agent. */
  async function send(agent: Agent, method: string, path: string) {
    const { url, headers } = http().address(method, path);
    const request = requestWith(url, { method, agent, headers: { ...headers, range: 'bytes=1-2' } }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response;
  }

  it.each([
    ['/stored/endless', { 'content-length': '10', 'accept-ranges': 'bytes', etag: '"1"' }],
    ['/things/endless/file', { 'content-type': 'application/octet-stream' }],
    ['/things/a/events', { 'content-type': 'text/event-stream' }],
  ])(
    'of %s is over for its service too, so that the next request on its connection is served',
    async (path, headers) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        const response = await send(agent, 'HEAD', path);
        expect(response).toMatchObject({ statusCode: 200, headers });
        expect((await send(agent, 'GET', '/things/a')).statusCode).toBe(200);
        expect(endless.every(({ destroyed }) => destroyed)).toBe(true);
      } finally {
        agent.destroy();
      }
    },
  );
});

describe('the pipeline of endpoints', () => {
  it('sends a body with its entity tag and cache policy, and 304 for a matching tag', async () => {
    const response = await http().get('/things/a%2Fb');
    expect(response.body).toEqual({ id: 'a/b', size: 7 });
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const etag = response.headers.get('etag')!;
    const again = await http().get('/things/a%2Fb', { headers: { 'if-none-match': etag } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('sends 201 with the location below the prefix', async () => {
    const response = await http().post('/things', { id: 'a', size: 1 });
    expect([response.status, response.headers.get('location')]).toEqual([201, '/api/v1/things/a']);
  });

  it.each([
    ['malformed JSON', '{"id":', 400],
    ['a wrong type', { id: 7, size: 1 }, 400],
    ['a fraction for an integer', { id: 'a', size: 1.5 }, 400],
    ['no body', '', 400],
    ['a body of null', 'null', 422],
    ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['a depth of 65', `${'['.repeat(65)}${']'.repeat(65)}`, 400],
    ['NUL', { id: 'a\0', size: 1 }, 422],
    ['half a surrogate pair', '{"id":"\\ud800","size":1}', 422],
    ['more than a mebibyte', JSON.stringify({ id: 'x'.repeat(1024 * 1024) }), 413],
  ])('refuses %s with a problem', async (_, body, status) => {
    const response = await http().post('/things', body);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.body).toMatchObject(problem(status));
    expect(response.status).toBe(status);
  });

  it('sends the problem of a body to a client that reads it only when all is sent', async () => {
    const { url, headers } = http().address('POST', '/things');
    const { hostname, port, pathname } = new URL(url);
    const size = 32 * 1024 * 1024;
    const socket = connect(Number(port), hostname).pause();
    const received = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.on('error', ({ message }) => (text ||= message)).on('close', () => resolve(text));
    });
    const sent = { host: hostname, 'content-type': 'application/json', 'content-length': size, ...headers };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.write(Buffer.alloc(size, ' '), () => socket.resume());
    expect(await received).toMatch(/^HTTP\/1\.1 413 [^]*"status":413/);
  });

  it.each([
    [{ size: 1 }, { id: 'NotEmpty' }],
    [{ id: null, size: 1 }, { id: 'NotNull' }],
    [{ id: '', size: 1 }, { id: 'NotEmpty' }],
    [{ id: 'x'.repeat(11), size: 1 }, { id: 'MaximumLength' }],
    [{ id: 'a', size: 0 }, { size: 'Range' }],
    [{ id: 'a', size: 1, colour: 'green' }, { colour: 'Enum' }],
    [{ id: 'a', size: 1, parts: [{}] }, { 'parts[0].name': 'NotEmpty' }],
    [
      { id: '', size: 0 },
      { id: 'NotEmpty', size: 'Range' },
    ],
  ])('names the validation rules that %j breaks', async (body, rules) => {
    const response = await http().post('/things', body);
    expect(response.status).toBe(422);
    const errors = Object.entries(rules).map(([path, rule]) => [
      path,
      [`Service:Validation:${rule}Validator`],
    ]);
    expect(response.body.errors).toEqual(Object.fromEntries(errors));
    expect(response.body.title).toBe('One or more validation errors occurred.');
  });

  it.each([undefined, '', 'null', '{}'])('accepts %j where a body is optional', async (body) => {
    const response = await http().post('/things/a/touch', body, {
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(204);
  });

  it('refuses a body that is not JSON with 415, and an Accept header that it cannot satisfy with 406', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect((await http().post('/things', 'id', { headers })).status).toBe(415);
    expect((await http().get('/things/a', { headers: { accept: 'text/html' } })).status).toBe(406);
    expect((await http().get('/things/a', { headers: { accept: 'application/problem+json' } })).status).toBe(
      200,
    );
  });

  it('responds with 405 and Allow to a wrong method, and with 404 to a wrong path', async () => {
    const response = await http().delete('/things/a');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await http().get('/nothing')).status).toBe(404);
  });

  it('refuses a path with invalid percent-encoding or NUL, and an unknown enum value in a query', async () => {
    expect((await http().get('/things/%E0%A4%A')).status).toBe(400);
    expect((await http().get('/things/a%00b')).status).toBe(400);
    expect((await http().get('/things/a?unit=mile')).status).toBe(400);
  });

  it('requires a caller signed by the gateway, with the permission of the contract', async () => {
    expect((await fetch(`${server.url}/api/v1/things/a`)).status).toBe(401);
    expect((await server.as(null).get('/things/a')).status).toBe(401);
    expect((await server.as(aCaller({ permissions: [] })).get('/things')).status).toBe(403);
  });

  it('counts the many rows of a list only in a place for long reads', async () => {
    const { status, body } = await http().get('/many-things?pageSize=1');

    expect([status, body.totalCount, body.items.length]).toEqual([200, MANY_THINGS, 1]);
    expect(counts).toEqual([
      { limit: COUNTED_IN_PASSING_MAX + 1, countings: 0 },
      { limit: undefined, countings: 1 },
    ]);
  });

  it('pages through a list by cursor without gaps and repetitions, and refuses the cursor of another list', async () => {
    const caller = server.as(aCaller());
    const ids: string[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await caller.get(`/things?pageSize=20&cursor=${cursor}`);
      ids.push(...body.items.map(({ id }: { id: string }) => id));
      expect(body.totalCount).toBeNull();
      expect(body.hasMore).toBe(body.nextCursor !== null);
      if (!body.hasMore) break;
      cursor = body.nextCursor;
    }
    expect(ids).toHaveLength(45);
    expect(new Set(ids).size).toBe(45);
    expect((await http().get(`/things?cursor=${cursor}`)).status).toBe(400);
  });

  it('sends a file as bytes, with its exact type only to clients that accept it', async () => {
    const plain = await http().get('/things/na%C3%AFve%22.pdf/file');
    expect(plain.headers.get('content-type')).toBe('application/octet-stream');
    expect(plain.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''na%C3%AFve%22.pdf; filename="na_ve_.pdf"`,
    );
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
    const exact = await http().get('/things/a/file', { headers: { accept: 'application/pdf' } });
    expect(exact.headers.get('content-type')).toBe('application/pdf');
  });

  it('reveals nothing about an unexpected error but the trace id', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const response = await server.as(null).post('/things/a/break', undefined, { headers: { traceparent } });
    expect(response.body).toMatchObject(problem(500));
    expect(response.body.traceId).toBe('a'.repeat(32));
    expect(response.text).not.toMatch(/SELECT|srv/);
  });

  it('says that it is busy, where requests leave its event loop no time', async () => {
    const said: (string | null)[] = [];
    while (said.length < 20 && !said.includes('1')) {
      const { headers } = await http().post('/things/a/touch', { hard: true });
      said.push(headers.get('x-plinth-busy'));
    }
    expect(said).toContain('1');
  });

  it('shows its dead letters to operators only, whom the gateway signed', async () => {
    const ask = (caller: ReturnType<typeof aCaller>) => {
      const signed = signCaller(
        { caller, tenantId: caller.tenantId, method: 'GET', path: '/dead-letters', instance: '/' },
        TEST_KEYS,
      );
      return fetch(`${server.url}/dead-letters`, { headers: { [CALLER_HEADER]: signed } });
    };
    const response = await ask(aCaller({ tenantId: HOST_TENANT_ID }));
    expect([response.status, await response.json()]).toEqual([200, []]);
    expect((await ask(aCaller())).status).toBe(403);
    expect((await fetch(`${server.url}/dead-letters`)).status).toBe(401);
    expect((await fetch(`${server.url}/dead-letters/replay`, { method: 'POST' })).status).toBe(401);
  });

  it('does not start while an endpoint of the contract has no handler', () => {
    expect(() => createService('things', endpoints, context, () => undefined)).toThrow(
      'have no handler: getThing',
    );
  });
});
