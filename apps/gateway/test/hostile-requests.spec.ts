import fc from 'fast-check';
import { closeAll, echo, startGateway, startUpstream, type ReceivedRequest } from './start-gateway';
import { requestHead, sendRaw, type RawResponse } from './raw-http';

afterEach(closeAll);

const start = async (environment: Record<string, string> = {}) => {
  const received: ReceivedRequest[] = [];
  const gateway = await startGateway({ things: await startUpstream(echo(received)) }, environment);
  return { ...gateway, received };
};

function expectProblem(response: RawResponse, status: number): void {
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toBe('application/problem+json');
  expect(response.headers['connection']).toBe('close');
  expect(response.headers).toHaveProperty('api-supported-versions', '1.0');
  expect(response.headers).toHaveProperty('api-deprecated-versions');
  const problem = JSON.parse(response.body) as Record<string, unknown>;
  expect(problem).toMatchObject({
    status,
    type: expect.any(String),
    title: expect.any(String),
    detail: expect.any(String),
  });
  expect(problem['instance']).toMatch(/^\//);
  expect(response.text).not.toMatch(/node:|\bat .*\.[jt]s\b/);
}

describe('a request that is not valid or ambiguous HTTP', () => {
  const authorized = async (gateway: Awaited<ReturnType<typeof start>>) =>
    `Authorization: Bearer ${await gateway.token()}`;
  const chunked = 'Transfer-Encoding: chunked';

  it.each<[string, string]>([
    ['nonsense', 'hello\r\n\r\n'],
    ['an unknown method', requestHead('BREW /api/v1/things')],
    ['a method in lower case', requestHead('get /api/v1/things')],
    ['an unknown protocol', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['no host', 'GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two hosts', requestHead('GET /api/v1/things', 'Host: other.example')],
    ['a host with a path', 'GET /api/v1/things HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n'],
    ['a space before a colon', requestHead('GET /api/v1/things', 'X-A : b')],
    ['a header without a name', requestHead('GET /api/v1/things', ': b')],
    ['a folded header', requestHead('GET /api/v1/things', 'X-A: b\r\n c')],
    ['a bare line feed after a header', 'GET /api/v1/things HTTP/1.1\nHost: a\nConnection: close\n\n'],
    ['a bare carriage return in a header', requestHead('GET /api/v1/things', 'X-A: b\rX-B: c')],
    ['a NUL in a header', requestHead('GET /api/v1/things', 'X-A: \0')],
    ['two lengths', `${requestHead('POST /api/v1/things', 'Content-Length: 1', 'Content-Length: 2')}ab`],
    [
      'the same length twice',
      `${requestHead('POST /api/v1/things', 'Content-Length: 2', 'Content-Length: 2')}ab`,
    ],
    ['a length list', `${requestHead('POST /api/v1/things', 'Content-Length: 2, 2')}ab`],
    ['a signed length', `${requestHead('POST /api/v1/things', 'Content-Length: +2')}ab`],
    ['a hexadecimal length', `${requestHead('POST /api/v1/things', 'Content-Length: 0x2')}ab`],
    ['a length and chunks', `${requestHead('POST /api/v1/things', 'Content-Length: 5', chunked)}0\r\n\r\n`],
    ['chunks and a length', `${requestHead('POST /api/v1/things', chunked, 'Content-Length: 5')}0\r\n\r\n`],
    [
      'an unknown transfer coding',
      `${requestHead('POST /api/v1/things', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    ],
    [
      'chunked not in last place',
      `${requestHead('POST /api/v1/things', 'Transfer-Encoding: chunked, identity')}0\r\n\r\n`,
    ],
    [
      'chunked with a vertical tab',
      `${requestHead('POST /api/v1/things', 'Transfer-Encoding: \x0bchunked')}0\r\n\r\n`,
    ],
    ['an absolute address', requestHead('GET http://plinth.example/api/v1/things')],
    ['an asterisk', requestHead('OPTIONS *')],
    ['a fragment', requestHead('GET /api/v1/things#x')],
    ['a byte that is no ASCII', requestHead('GET /api/v1/th\xefngs')],
  ])('is refused with 400: %s', async (_what, bytes) => {
    const gateway = await start();
    expectProblem(await sendRaw(gateway.port, bytes), 400);
    expect(gateway.received).toEqual([]);
  });

  it('cannot smuggle a second request in its body', async () => {
    const gateway = await start();
    const smuggled = 'GET /api/v1/things/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    const heads = [
      ['Content-Length: 6', chunked],
      [chunked, 'Content-Length: 6'],
      [chunked, 'Transfer-Encoding: identity'],
      ['Transfer-Encoding : chunked', 'Content-Length: 6'],
      ['Transfer-Encoding: xchunked'],
      ['Content-Length: 0', 'Transfer-Encoding:\tchunked'],
    ];
    for (const head of heads) {
      const bytes =
        requestHead('POST /api/v1/things', await authorized(gateway), ...head) + `0\r\n\r\n${smuggled}`;
      const response = await sendRaw(gateway.port, bytes);
      expect(response.count).toBeLessThanOrEqual(1);
      expect(response.status).toBe(400);
    }
    expect(gateway.received.filter(({ url }) => url.includes('smuggled'))).toEqual([]);
  });

  it.each([
    ['a chunk size with a sign', '+1\r\na\r\n0\r\n\r\n'],
    ['a chunk size that is no number', 'x\r\na\r\n0\r\n\r\n'],
    ['a chunk that is longer than its size', '1\r\nab\r\n0\r\n\r\n'],
    ['a chunk size beyond all bounds', 'ffffffffffffffffff\r\na\r\n0\r\n\r\n'],
  ])('is refused with 400 in a chunked body: %s', async (_what, chunks) => {
    const gateway = await start();
    const response = await sendRaw(
      gateway.port,
      requestHead(
        'POST /api/v1/things',
        await authorized(gateway),
        chunked,
        'Content-Type: application/json',
      ) + chunks,
    );
    expect(response.count).toBeLessThanOrEqual(1);
    expect([0, 400]).toContain(response.status);
  });

  it('is not upgraded to another protocol', async () => {
    const gateway = await start();
    for (const protocol of ['h2c', 'websocket']) {
      const head = requestHead(
        'GET /api/v1/news',
        'Connection: close, Upgrade, HTTP2-Settings',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABkAAQAAP__',
      );
      const response = await sendRaw(gateway.port, head.replace('Connection: close\r\n', ''));
      expect(response.status).toBe(200);
    }
    expect(
      gateway.received.every(
        ({ headers }) => headers.upgrade === undefined && headers['http2-settings'] === undefined,
      ),
    ).toBe(true);
  });

  it('is refused when it asks for a proxy connection', async () => {
    const gateway = await start();
    expectProblem(
      await sendRaw(gateway.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
      405,
    );
    expectProblem(await sendRaw(gateway.port, requestHead('TRACE /api/v1/things')), 405);
  });
});

describe('limits of a request', () => {
  it('refuse headers that are too large or too many with 431', async () => {
    const { port } = await start();
    const large = `X-Large: ${'x'.repeat(20_000)}`;
    const response = await sendRaw(port, requestHead('GET /api/v1/things?page=1', large));
    expectProblem(response, 431);
    expect(JSON.parse(response.body)).toMatchObject({ instance: '/api/v1/things' });
    expectProblem(
      await sendRaw(
        port,
        requestHead('GET /', ...Array.from({ length: 300 }, (_, index) => `X-${index}: y`)),
      ),
      431,
    );
  });

  it('refuse a body of more than a mebibyte with 413, with and without a length', async () => {
    const { fetch, received } = await start();
    const body = JSON.stringify('x'.repeat(1024 * 1024));
    const headers = { 'content-type': 'application/json' };
    expect((await fetch('/api/v1/things', { method: 'POST', headers, body })).status).toBe(413);
    const stream = new Blob([body]).stream();
    const chunked = await fetch('/api/v1/things', {
      method: 'POST',
      headers,
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect(chunked.headers.get('content-type')).toBe('application/problem+json');
    expect(received).toEqual([]);
  });

  it('respond with 408 when the headers do not arrive', async () => {
    const { port } = await start({ HEADERS_TIMEOUT_MILLISECONDS: '200' });
    expectProblem(await sendRaw(port, 'GET /api/v1/things HTTP/1.1\r\nHost: a\r\n'), 408);
  });

  it('respond with 408 when the body does not arrive', async () => {
    const gateway = await start({ BODY_TIMEOUT_MILLISECONDS: '100' });
    const head = (...headers: string[]) =>
      requestHead('POST /api/v1/things', 'Content-Type: application/json', 'Content-Length: 10', ...headers);
    const authorization = `Authorization: Bearer ${await gateway.token()}`;
    expectProblem(await sendRaw(gateway.port, `${head(authorization)}12`), 408);
    expectProblem(await sendRaw(gateway.port, `${head(authorization, 'Idempotency-Key: k')}12`), 408);
  });

  it('allow an address of 100 bytes and of 10,000, and respond with 404 to one that does not exist', async () => {
    const { fetch } = await start();
    expect((await fetch(`/${'a'.repeat(10_000)}`)).status).toBe(404);
  });

  it('respond with 100 Continue only to clients whose body will be read', async () => {
    const gateway = await start();
    const head = (authorization: string, size: number) =>
      requestHead(
        'POST /api/v1/things',
        'Content-Type: application/json',
        `Content-Length: ${size}`,
        'Expect: 100-continue',
        authorization,
      );
    const good = `Authorization: Bearer ${await gateway.token()}`;
    const welcome = await sendRaw(gateway.port, `${head(good, 2)}{}`);
    expect(welcome.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect((await sendRaw(gateway.port, head('X-No: token', 2))).text).toMatch(/^HTTP\/1\.1 401 /);
    expect((await sendRaw(gateway.port, head(good, 5_000_000))).text).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('a forged identity', () => {
  it('never reaches a service in any spelling of the headers', async () => {
    const gateway = await start();
    const authorization = `Authorization: Bearer ${await gateway.token({ sub: 'eve', roles: [] })}`;
    const names = [
      'X-Plinth-Caller',
      'x_plinth_caller',
      'X-PLINTH-CALLER',
      'x.plinth.caller',
      'X-Internal-User',
      'X-User-Id',
      'Forwarded',
      'X-Original-Url',
      'Traceparent',
    ];
    for (const name of names) {
      for (const extra of [
        `${name}: root`,
        `${name}: root\r\n${name}: admin`,
        `${name}:root `,
        `Connection: ${name}\r\n${name}: root`,
      ]) {
        await sendRaw(gateway.port, requestHead('GET /api/v1/things', authorization, extra));
      }
    }
    expect(gateway.received).toHaveLength(names.length * 4);
    for (const { claims, headers } of gateway.received) {
      expect(claims.caller).toMatchObject({ userId: 'eve', permissions: [] });
      expect(JSON.stringify(headers)).not.toMatch(/root|admin/);
    }
  });

  it('cannot remove the real one by naming its header in Connection', async () => {
    const gateway = await start();
    const authorization = `Authorization: Bearer ${await gateway.token()}`;
    for (const name of ['x-plinth-caller', 'authorization', 'traceparent', 'content-type']) {
      await sendRaw(
        gateway.port,
        requestHead('GET /api/v1/things', authorization, `Connection: close, ${name}`),
      );
    }
    expect(gateway.received.map(({ claims }) => claims.caller?.userId)).toEqual(['ada', 'ada', 'ada', 'ada']);
  });

  it('is not accepted from a second credential or from the query', async () => {
    const gateway = await start();
    const token = await gateway.token();
    const twice = requestHead(
      'GET /api/v1/things',
      `Authorization: Bearer ${token}`,
      `Authorization: Bearer ${token}`,
    );
    expectProblem(await sendRaw(gateway.port, twice), 401);
    expectProblem(await sendRaw(gateway.port, requestHead(`GET /api/v1/things?access_token=${token}`)), 401);
  });
});

describe('an ambiguous path', () => {
  it.each([
    '/api/v1//things',
    '//api/v1/things',
    '/api/v1/./things',
    '/api/v1/x/../things',
    '/api/v1/%2e%2e/things',
    '/api/v1/%2E/things',
    '/api/v1/things/..',
    '/api/v1/things/%2e%2e%2fx',
    '/api/v1/things/..%5Cx',
    '/api/v1/things\\x',
    '/api/v1/things;x=1',
    '/api/v1/things/%00',
    '/api/v1/things/%zz',
    '/api/v1/things/%',
    '/api/v1/things/%ff',
    '/api/v1/things/%c0%ae',
    '/api/v1/things/%ed%a0%80',
    '/api/v1/"things"',
  ])('is refused with 400: %s', async (path) => {
    const gateway = await start();
    expectProblem(
      await sendRaw(
        gateway.port,
        requestHead(`GET ${path}`, `Authorization: Bearer ${await gateway.token()}`),
      ),
      400,
    );
    expect(gateway.received).toEqual([]);
  });

  it('never reaches a service under another path than the one whose access was checked', async () => {
    const gateway = await start();
    const authorization = `Authorization: Bearer ${await gateway.token({ roles: [] })}`;
    const parts = fc.constantFrom(
      'things',
      'scoped',
      'tenant',
      'user',
      '..',
      '.',
      '%2e',
      '%2f',
      '%5c',
      '',
      ';',
      'a b',
      '%74enant',
      'THINGS',
      '%',
      'é',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 5 }), async (segments) => {
        gateway.received.length = 0;
        const { status } = await sendRaw(
          gateway.port,
          requestHead(`GET /api/v1/${segments.join('/')}`, authorization),
        );
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        for (const { claims, url } of gateway.received) {
          expect(url).toBe(claims.path);
          expect(decodeURIComponent(url)).not.toMatch(/^\/api\/v1\/(things\/.|scoped\/tenant)/);
        }
      }),
      { numRuns: 200 },
    );
  });
});
