import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { authenticated, endpoint, optional } from '@plinth/contracts/endpoint';
import type { Request } from 'express';
import type { Caller } from '@plinth/kernel/caller';
import { createService } from '@plinth/http/api';
import { file, ok, okJson, slow } from '@plinth/http/response';
import { Health } from '@plinth/runtime/process/health';
import { silentLog } from '@plinth/runtime/process/log';
import { CALLER_HEADER, signCaller } from '@plinth/runtime/rpc/signed-caller';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, serveForTest, TEST_KEYS, type TestServer } from '@plinth/testing/http';
import { z } from 'zod';
import { serviceContext } from './service-context';

const PIECE_LENGTH = 65_536;
const TEXT = 'x'.repeat(PIECE_LENGTH);

const query = z.object({ pieces: z.coerce.number() });
const reading = { method: 'GET', summary: 'Read much', access: authenticated, query, cache: 'none' } as const;
const success = { status: 200, body: z.array(z.string()) } as const;
const endpoints = {
  getTexts: endpoint({ ...reading, path: '/texts', success, etag: true }),
  getPublicTexts: endpoint({ ...reading, access: optional, path: '/public-texts', success, etag: true }),
  getList: endpoint({ ...reading, path: '/list', success, etag: true }),
  getResult: endpoint({
    ...reading,
    path: '/result',
    success: { status: 207, body: z.object({ results: z.array(z.any()) }) },
  }),
  getReport: endpoint({
    ...reading,
    path: '/report',
    success: { status: 200, body: z.object({ text: z.string() }) },
  }),
  getBuffer: endpoint({ ...reading, path: '/buffer', success: { status: 200, file: ['text/plain'] } }),
  getFile: endpoint({ ...reading, path: '/file', success: { status: 200, file: ['text/plain'] } }),
};

const logged = jest.fn();
const context = {
  ...serviceContext(TEST_KEYS, new Health({}), 'production'),
  log: Object.assign(silentLog(), { error: logged }),
};

/** What the service does for a request that is not responded to yet. */
interface Working {
  request: IncomingMessage;
  madePieces: number;
}
const working = new Set<Working>();
let madePieces: number;
let peakPieces: number;
let onPiece: () => void;
let onList: () => void;
beforeEach(() => {
  [madePieces, peakPieces] = [0, 0];
  onPiece = onList = () => undefined;
  logged.mockClear();
});

/** A body that tells when its members are written. */
function toldBody(request: IncomingMessage, pieces: number): string[] {
  const work = { request, madePieces: 0 };
  working.add(work);
  (request as Request).res!.once('close', () => working.delete(work));
  const body = Array.from({ length: pieces }, () => TEXT);
  return new Proxy(body, {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) {
        madePieces++;
        work.madePieces++;
        peakPieces = Math.max(
          peakPieces,
          [...working].reduce((sum, one) => sum + one.madePieces, 0),
        );
        onPiece();
      }
      return Reflect.get(target, name, receiver);
    },
  });
}

let server: TestServer;
beforeAll(async () => {
  const compress = promisify(gzip);
  const app = createService('texts', endpoints, context, (api) => {
    for (const endpoint of [endpoints.getTexts, endpoints.getPublicTexts])
      api.on(endpoint, ({ query: { pieces }, request }) =>
        ok(toldBody(request, pieces), {
          etag: '"version"',
          gzip: async (json) => compress(await json()),
        }),
      );
    api.on(endpoints.getList, ({ query: { pieces } }) => {
      onList();
      return okJson(['[', ...Array.from({ length: pieces }, (_, at) => `${at ? ',' : ''}"${TEXT}"`), ']']);
    });
    api.on(endpoints.getResult, ({ query: { pieces } }) => {
      onList();
      return { results: [{ value: TEXT.repeat(pieces), isSuccess: true, error: null }] };
    });
    api.on(endpoints.getReport, ({ query: { pieces } }) => {
      const made = async () => {
        onList();
        return { text: TEXT.repeat(pieces) };
      };
      return slow(made());
    });
    api.on(endpoints.getBuffer, ({ query: { pieces } }) =>
      file({ content: Buffer.from(TEXT.repeat(pieces)), name: 'texts.txt', type: 'text/plain' }),
    );
    api.on(endpoints.getFile, ({ query: { pieces } }) =>
      file({
        content: Readable.from(Array.from({ length: pieces }, () => Buffer.from(TEXT))),
        name: 'texts.txt',
        type: 'text/plain',
      }),
    );
  });
  server = await serveForTest(app);
});
afterAll(() => server.close());

const begin = (path: string, caller: Caller) => beginAt(server.as(caller).address('GET', path));

/** The same without a credential, from some network. */
function beginAnonymously(path: string, tenantId: string, network?: string) {
  const target = { method: 'GET', path: `/api/v1${path}` };
  const claims = { caller: null, tenantId, network, ...target, instance: path };
  const headers = { [CALLER_HEADER]: signCaller(claims, TEST_KEYS) };
  return beginAt({ url: server.url + target.path, headers });
}

/** Begins a request, of which nothing is read but its head. */
function beginAt({ url, headers }: { url: string; headers: Record<string, string> }) {
  const request = get(url, { headers, agent: false }).on('error', () => undefined);
  const response = once(request, 'response').then(([received]) => {
    const paused = received as IncomingMessage;
    return paused.on('error', () => undefined).pause();
  });
  response.catch(() => undefined);
  return { request, response };
}

const countedBytes = async (): Promise<number> => {
  const { values } = await context.metrics.getSingleMetric('plinth_buffered_bytes')!.get();
  return values.find(({ labels }) => labels['of'] === 'responses')!.value;
};
const measuredRequests = async (): Promise<number> => {
  const { values } = await context.metrics.getSingleMetric('plinth_http_request_duration_seconds')!.get();
  const counts = values as { metricName?: string; value: number }[];
  return counts.reduce((sum, { metricName, value }) => sum + (/_count$/.test(metricName!) ? value : 0), 0);
};

describe('large responses', () => {
  it('of many requests of one user wait or are refused, and take no more memory together than is counted', async () => {
    const caller = aCaller();
    const begun = Array.from({ length: 120 }, () => begin('/texts?pieces=12', caller));
    const statuses = await Promise.all(begun.map(async ({ response }) => (await response).statusCode!));
    begun.forEach(({ request }) => request.destroy());

    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(peakPieces * PIECE_LENGTH).toBeLessThan(context.config.BUFFERED_RESPONSE_BYTES_MAX);
    await eventually(async () => (await countedBytes()) === 0);
  });

  it('of one network are no share of the tenant that it names, which others may read as ever', async () => {
    const tenant = aCaller();
    const path = '/public-texts?pieces=250';
    const read = (network: string) => beginAnonymously(path, tenant.tenantId, network);
    const begun = [];
    const statuses = [];
    for (const network of ['192.0.2.1', '192.0.2.1', '198.51.100.2', undefined]) {
      const one = network === undefined ? begin(path, tenant) : read(network);
      begun.push(one);
      statuses.push((await one.response).statusCode);
    }
    expect(statuses).toEqual([200, 429, 200, 200]);
    begun.forEach(({ request }) => request.destroy());
    await eventually(async () => (await countedBytes()) === 0);
  });

  it('of unknown networks, as a gateway of the version before sends them, are shares of the tenants named', async () => {
    const path = '/public-texts?pieces=250';
    const begun = [aCaller(), aCaller()].map(({ tenantId }) => beginAnonymously(path, tenantId));
    const statuses = [];
    for (const { response } of begun) statuses.push((await response).statusCode);
    expect(statuses).toEqual([200, 200]);
    begun.forEach(({ request }) => request.destroy());
    await eventually(async () => (await countedBytes()) === 0);
  });

  it('of two tenants keep no small one of another tenant waiting', async () => {
    const large = [aCaller(), aCaller()].map((caller) => begin('/texts?pieces=150', caller));
    let made = Promise.resolve(0);
    onPiece = () => {
      if (madePieces !== 10) return;
      made = server
        .as(aCaller())
        .get('/texts?pieces=0')
        .then(() => madePieces);
    };
    await Promise.all(large.map(({ response }) => response));
    large.forEach(({ request }) => request.destroy());
    expect(await made).toBeLessThan(150);
    await eventually(async () => (await countedBytes()) === 0);
  });

  it.each(['/result', '/report'])('of one long text keep no small one waiting: %s', async (path) => {
    const finished: string[] = [];
    let small = Promise.resolve();
    onList = () => {
      small = begin('/texts?pieces=0', aCaller()).response.then(() => void finished.push('small'));
    };
    const received = await begin(`${path}?pieces=150`, aCaller()).response;
    finished.push('large');
    await small;
    received.destroy();
    expect(finished).toEqual(['small', 'large']);
    await eventually(async () => (await countedBytes()) === 0);
  });

  it.each(['/list', '/result', '/report'])(
    'are counted while they wait for their encoding: %s',
    async (path) => {
      let counted = Promise.resolve(0);
      onList = () => setImmediate(() => (counted = countedBytes()));
      const received = await begin(`${path}?pieces=100`, aCaller()).response;
      expect(await counted).toBeGreaterThanOrEqual(100 * PIECE_LENGTH);
      received.destroy();
      await eventually(async () => (await countedBytes()) === 0);
    },
  );

  it('are not encoded further, and not counted, once their client has disconnected', async () => {
    const before = await measuredRequests();
    const { request } = begin('/texts?pieces=400', aCaller());
    onPiece = () => {
      if (madePieces === 10) request.destroy();
    };
    await eventually(async () => (await measuredRequests()) > before);
    expect(await countedBytes()).toBe(0);
    expect(madePieces).toBeLessThan(400);
    expect(logged).not.toHaveBeenCalled();
  });

  it.each(['/texts?pieces=400', '/file?pieces=400'])(
    'are no failure of the service where their client disconnects while it reads: %s',
    async (path) => {
      const before = await measuredRequests();
      const { request, response } = begin(path, aCaller());
      await response;
      request.destroy();
      await eventually(async () => (await measuredRequests()) > before && (await countedBytes()) === 0);
      expect(logged).not.toHaveBeenCalled();
    },
  );

  it('may be as large as half of what there is, and wait for a slow client without being buffered once more', async () => {
    const before = await measuredRequests();
    const received = await begin('/texts?pieces=400', aCaller()).response;
    const length = Number(received.headers['content-length']);
    expect(await countedBytes()).toBe(length);
    // How long the client reads is no time of the service.
    expect(await measuredRequests()).toBe(before + 1);
    const { socket } = [...working].at(-1)!.request;
    await eventually(() => socket.writableNeedDrain);
    expect(socket.writableLength).toBeLessThan(4 * PIECE_LENGTH);

    // The next tenant finds as much, and for a third one there is no room.
    const ofOther = await begin('/texts?pieces=400', aCaller()).response;
    expect(ofOther.statusCode).toBe(200);
    expect((await begin('/texts?pieces=400', aCaller()).response).statusCode).toBe(503);
    ofOther.destroy();

    let bytes = 0;
    for await (const chunk of received) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(length);
    await eventually(async () => (await countedBytes()) === 0);
  });

  it.each(['/texts?pieces=400', '/buffer?pieces=400', '/report?pieces=400'])(
    'are ended where their clients read too slowly while another tenant is refused: %s',
    async (path) => {
      jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
      try {
        const slow = [begin(path, aCaller()), begin(path, aCaller())];
        for (const { response } of slow) expect((await response).statusCode).toBe(200);
        expect((await begin(path, aCaller()).response).statusCode).toBe(503);
        await eventually(async () => {
          // Once the buffers of the connection are full, nothing of it is read.
          jest.advanceTimersByTime(80_000);
          return (await countedBytes()) === 0;
        });
        slow.forEach(({ request }) => request.destroy());
      } finally {
        jest.useRealTimers();
      }
    },
  );

  it.each(['/texts?pieces=600', '/list?pieces=600', '/buffer?pieces=600', '/report?pieces=600'])(
    'are refused where one alone would hold more than half of what there is: %s',
    async (path) => {
      const refused = await server.as(aCaller()).get(path);
      expect(refused.status).toBe(413);
      await eventually(async () => (await countedBytes()) === 0);
    },
  );

  it('have their tags and lengths, and are not written for who has them', async () => {
    const http = server.as(aCaller());
    const expected = JSON.stringify([TEXT, TEXT, TEXT]);
    const identity = { 'accept-encoding': 'identity' };
    const headersOf = ({ headers }: { headers: Headers }) => [
      headers.get('etag'),
      headers.get('content-length'),
      headers.get('vary'),
    ];

    const plain = await http.get('/texts?pieces=3', { headers: identity });
    expect(plain.text).toBe(expected);
    expect(headersOf(plain)).toEqual(['"version"', String(expected.length), 'Accept-Encoding']);
    const { url, headers } = http.address('GET', '/texts?pieces=3');
    const [compressed] = (await once(
      get(url, { headers: { ...headers, 'accept-encoding': 'gzip' } }),
      'response',
    )) as [IncomingMessage];
    const bytes = Buffer.concat(await compressed.toArray());
    expect(gunzipSync(bytes).toString()).toBe(expected);
    expect([compressed.headers.etag, compressed.headers['content-length']]).toEqual([
      '"version-gzip"',
      String(bytes.length),
    ]);
    const list = await http.get('/list?pieces=3', { headers: identity });
    expect(list.text).toBe(expected);
    expect(headersOf(list)).toEqual([expect.stringMatching(/^"[\w-]{27}"$/), String(expected.length), null]);

    const made = madePieces;
    for (const [path, tag] of [
      ['/texts?pieces=3', '"version"'],
      ['/list?pieces=3', list.headers.get('etag')!],
    ] as const) {
      const known = await http.get(path, { headers: { ...identity, 'if-none-match': tag } });
      expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', tag]);
    }
    expect(madePieces).toBe(made);
  });
});
