import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createService } from '@plinth/http/api';
import { announceLateProblem, endWithLateProblem } from '@plinth/http/late-problem';
import { slow } from '@plinth/http/response';
import { Problem } from '@plinth/kernel/problem';
import { Health } from '@plinth/runtime/process/health';
import { silentLog } from '@plinth/runtime/process/log';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import type { Request } from 'express';
import { Registry } from 'prom-client';
import {
  CALLER_KEY,
  closeAll,
  echo,
  OTHER_TENANT_ID,
  receive,
  sendJson,
  startGateway,
  startUpstream,
  type StartedGateway,
} from './start-gateway';
import { stopDate } from './stop-date';
import { thingEndpoints } from './thing-endpoints';

afterEach(closeAll);

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** A service made of bytes. */
async function startSocketUpstream(
  onRequest: (socket: Socket, count: number) => void,
): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => onRequest(socket, ++count));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count };
}

const problemOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return [response.status, ((await response.json()) as { detail: string }).detail];
};

describe('a service that is down', () => {
  it('makes requests get 503 with the name of the service and never of its host', async () => {
    const { fetch } = await startGateway({ things: 'http://127.0.0.1:1' });
    for (const path of ['/api/v1/things', '/api/v1/files/x']) {
      const response = await fetch(path);
      expect(response.headers.has('retry-after')).toBe(true);
      const [status, detail] = await problemOf(response);
      expect([status, detail]).toEqual([503, 'The things service is unavailable.']);
    }
    const post = await fetch('/api/v1/things', { method: 'POST', body: '{}' });
    expect(await problemOf(post)).toEqual([503, 'The things service is unavailable.']);
    const upload = await fetch('/api/v1/files', {
      method: 'POST',
      body: new Blob(['x'.repeat(100)]),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect(await problemOf(upload)).toEqual([503, 'The things service is unavailable.']);
  });

  it('makes requests get 503 when it is not installed', async () => {
    const { fetch } = await startGateway({});
    expect((await fetch('/api/v1/things')).status).toBe(503);
  });

  it('opens its circuit breaker after some failures, and is tried again later', async () => {
    const upstream = await startSocketUpstream((socket) => socket.destroy());
    const { fetch, gateway } = await startGateway(
      { things: upstream.url },
      { BREAKER_FAILURES_MAX: '3', BREAKER_OPEN_MILLISECONDS: '1000' },
    );
    stopDate();
    for (let count = 0; count < 3; count++) await fetch('/api/v1/things', { method: 'POST', body: '{}' });
    const before = upstream.count();
    expect((await fetch('/api/v1/things', { method: 'POST', body: '{}' })).status).toBe(503);
    expect(upstream.count()).toBe(before);
    expect(await gateway.metrics.metrics()).toMatch(/plinth_gateway_breaker_state\{area="things"[^}]*\} 2/);
    jest.setSystemTime(Date.now() + 1_000);
    await fetch('/api/v1/things', { method: 'POST', body: '{}' });
    expect(upstream.count()).toBeGreaterThan(before);
  });

  it('is retried for GET only', async () => {
    const upstream = await startSocketUpstream((socket, count) => {
      if (count === 1) socket.destroy();
      else
        socket.end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]',
        );
    });
    const { fetch } = await startGateway({ things: upstream.url });
    expect((await fetch('/api/v1/things')).status).toBe(200);
    expect(upstream.count()).toBe(2);
    const fragile = await startSocketUpstream((socket) => socket.destroy());
    const writing = await startGateway({ things: fragile.url });
    expect((await writing.fetch('/api/v1/things', { method: 'PUT', body: '{}' })).status).not.toBe(200);
    expect((await writing.fetch('/api/v1/things', { method: 'POST', body: '{}' })).status).toBe(503);
    expect(fragile.count()).toBe(1);
  });
});

describe('a service that dies in the middle of a response', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

  it('never makes the response look complete', async () => {
    const large = 'x'.repeat(200_000);
    const cutOff: [string, string][] = [
      ['/api/v1/things', `${head}content-length: 1000\r\n\r\n[1,2`],
      ['/api/v1/things', `${head}transfer-encoding: chunked\r\n\r\n4\r\n[1,2\r\n`],
      ['/api/v1/things', `${head}content-length: 500000\r\n\r\n${large}`],
      [
        '/api/v1/things',
        `${head}transfer-encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n`,
      ],
      ['/api/v1/files/x', `${head}content-length: 1000\r\n\r\n[1,2`],
      ['/api/v1/files/x', `${head}transfer-encoding: chunked\r\n\r\n4\r\n[1,2\r\n`],
      ['/api/v1/files/x', `${head}content-length: 500000\r\n\r\n${large}`],
    ];
    for (const [path, bytes] of cutOff) {
      const upstream = await startSocketUpstream((socket) => socket.write(bytes, () => socket.destroy()));
      const { fetch } = await startGateway({ things: upstream.url });
      const outcome = await fetch(path).then(
        async (response) => [response.status, await response.text().catch(() => 'aborted')],
        () => [0, 'aborted'],
      );
      expect(outcome[0] === 503 || outcome[1] === 'aborted').toBe(true);
    }
  });

  it('makes requests get 503 when it sends something that is not HTTP', async () => {
    for (const path of ['/api/v1/things', '/api/v1/files/x']) {
      const upstream = await startSocketUpstream((socket) => socket.end('hello\r\n\r\n'));
      const { fetch } = await startGateway({ things: upstream.url });
      expect((await fetch(path)).status).toBe(503);
    }
  });
});

describe('a response that begins before its end is known', () => {
  /** Sends its head, and spaces for as long as it lasts. */
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).write(' ');
    const keepAlive = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(keepAlive));
  };
  const put = { method: 'PUT', body: '{}' };

  /** Whoever looks at how long something takes finds a minute more each time; no timer runs out sooner. */
  const whileMinutesPass = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const now = performance.now.bind(performance);
    let ahead = 0;
    const looking = jest.spyOn(performance, 'now').mockImplementation(() => now() + (ahead += 60_000));
    try {
      return await work();
    } finally {
      looking.mockRestore();
    }
  };

  /** A service that does slow work, which the test ends. */
  async function startSlowService() {
    const begun = Promise.withResolvers<{ response: ServerResponse; fail: (problem: Problem) => void }>();
    const context = {
      config: {
        NODE_ENV: 'test',
        PUBLIC_URL: 'https://plinth.example',
        PUBLIC_PREFIX: '/api/v1',
        CALLER_KEYS: [CALLER_KEY],
        CURSOR_KEYS: [],
        BUFFERED_BYTES_MAX: 16 * 1024 * 1024,
        BUFFERED_RESPONSE_BYTES_MAX: 64 * 1024 * 1024,
      },
      log: silentLog(),
      health: new Health({}),
      metrics: new Registry(),
    };
    const { postThing } = thingEndpoints;
    const service = createService('things', { postThing }, context, (api) =>
      api.on(postThing, ({ request }) => {
        const work = Promise.withResolvers<unknown>();
        begun.resolve({ response: (request as Request).res!, fail: work.reject });
        return slow(work.promise);
      }),
    );
    const { fetch } = await startGateway({ things: await startUpstream(service) });
    return { fetch, begun: begun.promise };
  }

  it('reaches the client while it lasts, so that nothing on the way gives its connection up', async () => {
    let begun: ServerResponse | undefined;
    const upstream = await startUpstream((request, response) => begin(request, (begun = response)));
    const { fetch } = await startGateway({ things: upstream });
    const response = await whileMinutesPass(() => fetch('/api/v1/things/x', put));
    begun!.end('{"done":true}');
    expect([response.status, await response.json()]).toEqual([200, { done: true }]);
  });

  it('becomes the problem that is found behind its head', async () => {
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    try {
      const { fetch, begun } = await startSlowService();
      const sent = fetch('/api/v1/things', { method: 'POST', body: '{}', headers: JSON_TYPE });
      const { response, fail } = await begun;
      await until(() => {
        jest.advanceTimersByTime(10_000);
        return response.headersSent;
      });
      fail(new Problem('invalid', 'The file is damaged.', { slug: 'file-damaged' }));
      const received = await sent;
      expect(await problemOf(received)).toEqual([422, 'The file is damaged.']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('ends with the problem that is found after the client has a part of it, and is never complete', async () => {
    let begun: ServerResponse | undefined;
    const upstream = await startUpstream((request, response) => {
      announceLateProblem(response);
      begin(request, (begun = response));
    });
    const { fetch } = await startGateway({ things: upstream });
    const response = await whileMinutesPass(() => fetch('/api/v1/things/x', put));
    const body = JSON.stringify({ status: 422, title: 'File damaged' });
    endWithLateProblem(begun!, { status: 422, headers: {}, body });
    let received = '';
    const read = async () => {
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) received += part;
    };
    await expect(read()).rejects.toThrow();
    expect([response.status, received.trim()]).toEqual([200, body]);
  });

  it('is never complete for a client of HTTP/1.0 either, whose connection is reset', async () => {
    const ends = [
      (response: ServerResponse) => endWithLateProblem(response, { status: 422, headers: {}, body: '{}' }),
      (response: ServerResponse) => response.destroy(),
    ];
    for (const end of ends) {
      let begun: ServerResponse | undefined;
      const upstream = await startUpstream((request, response) => {
        announceLateProblem(response);
        begin(request, (begun = response));
      });
      const { port, token } = await startGateway({ things: upstream });
      const head = `PUT /api/v1/things/x HTTP/1.0\r\nauthorization: Bearer ${await token()}\r\ncontent-length: 2\r\n\r\n`;
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      let received = '';
      socket.setEncoding('latin1').on('data', (part) => (received += part));
      const isReset = new Promise((resolve) => socket.once('close', resolve));
      await whileMinutesPass(async () => {
        socket.write(`${head}{}`);
        await until(() => received.includes('\r\n\r\n') || socket.destroyed);
      });
      end(begun!);
      expect(await isReset).toBe(true);
      expect(received).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n *$/);
    }
  });

  it('is never complete for a client of HTTP/1.0 that downloads a file which breaks off', async () => {
    let begun: ServerResponse | undefined;
    const upstream = await startUpstream((_request, response) => {
      begun = response.writeHead(200, { 'content-type': 'text/csv' });
      response.write('Name\n');
    });
    const { port, token } = await startGateway({ things: upstream });
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let received = '';
    socket.setEncoding('latin1').on('data', (part) => (received += part));
    const isReset = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`GET /api/v1/files/x HTTP/1.0\r\nauthorization: Bearer ${await token()}\r\n\r\n`);
    await until(() => received.endsWith('Name\n') || socket.destroyed);
    begun!.destroy();
    expect(await isReset).toBe(true);
    expect(received).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nName\n$/);
  });

  it('is never complete where something on the way drops the problem behind its head', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      announceLateProblem(response);
      response.writeHead(200, JSON_TYPE);
      response.end('  ');
    });
    const { fetch } = await startGateway({ things: upstream });
    expect((await fetch('/api/v1/things/x', put)).status).toBe(503);
  });

  it.each([
    ['no JSON', 'x'],
    ['not told as a problem is', Buffer.from('{"status":200,"body":"{}"}').toString('base64url')],
  ])('is told in general where the problem behind its head is %s', async (_what, trailer) => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      announceLateProblem(response);
      response.writeHead(200, JSON_TYPE);
      response.write('[]');
      response.addTrailers({ 'x-plinth-problem': trailer });
      response.end();
    });
    const { fetch } = await startGateway({ things: upstream });
    const response = await fetch('/api/v1/things/x', put);
    expect(await problemOf(response)).toEqual([503, 'The things service is unavailable.']);
  });

  it('is no failure of a service that has responded, however it breaks off', async () => {
    const begun: ServerResponse[] = [];
    const upstream = await startUpstream((request, response) => {
      if (request.method === 'GET') return sendJson(response, 200, []);
      begin(request, response);
      begun.push(response);
    });
    const { fetch } = await startGateway({ things: upstream }, { BREAKER_FAILURES_MAX: '3' });
    const sent = Array.from({ length: 4 }, () => fetch('/api/v1/things/x', put));
    await until(() => begun.length === 4);
    expect((await fetch('/api/v1/things')).status).toBe(200);
    begun.forEach((response) => response.destroy());
    for (const { status } of await Promise.all(sent)) expect(status).toBe(503);
    expect((await fetch('/api/v1/things')).status).toBe(200);
  });
});

describe('a slow service', () => {
  it('makes requests get 503 with Retry-After after the timeout', async () => {
    const upstream = await startUpstream((request) => void request.resume());
    const { fetch } = await startGateway({ things: upstream }, { UPSTREAM_TIMEOUT_MILLISECONDS: '100' });
    for (const path of ['/api/v1/things', '/api/v1/files/x']) {
      const response = await fetch(path);
      expect(response.headers.has('retry-after')).toBe(true);
      expect(await problemOf(response)).toEqual([503, 'The things service did not respond in time.']);
    }
  });

  it('has a longer timeout for slow endpoints', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      setTimeout(() => sendJson(response, 200, []), 300);
    });
    const { fetch } = await startGateway({ things: upstream }, { UPSTREAM_TIMEOUT_MILLISECONDS: '100' });
    expect((await fetch('/api/v1/things/x', { method: 'PUT', body: '{}' })).status).toBe(200);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await fetch('/api/v1/files', { method: 'POST', body: 'x', headers })).status).toBe(200);
    expect((await fetch('/api/v1/things')).status).toBe(503);
  });

  it('makes an upload that it does not read get 503, however short connections may be idle', async () => {
    const upstream = await startUpstream(() => undefined);
    const gateway = await startGateway(
      { things: upstream },
      // The connection is idle for as long as that also before the request has got far enough to be allowed more.
      { IDLE_TIMEOUT_MILLISECONDS: '1000', UPSTREAM_SLOW_TIMEOUT_MILLISECONDS: '1500' },
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': 64 * 1024 * 1024 };
    const authorization = `Bearer ${await gateway.token()}`;
    const path = '/api/v1/files';
    const request = httpRequest({
      port: gateway.port,
      method: 'POST',
      path,
      headers: { ...headers, authorization },
    });
    request.on('error', () => undefined);
    request.write(Buffer.alloc(16 * 1024 * 1024));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(503);
    request.destroy();
  });

  it('does not slow other services, and gets a limited number of concurrent requests', async () => {
    const waiting: ServerResponse[] = [];
    const slow = await startUpstream((_request, response) => void waiting.push(response));
    const { fetch } = await startGateway(
      { things: slow, others: await startUpstream(echo()) },
      { UPSTREAM_CONCURRENCY_MAX: '20' },
    );
    const stuck = Array.from({ length: 20 }, () =>
      fetch('/api/v1/things', { as: { tenantId: randomUUID() } }),
    );
    await until(() => waiting.length === 20);
    const refused = await fetch('/api/v1/things');
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    for (let round = 0; round < 5; round++) {
      const others = await Promise.all(Array.from({ length: 5 }, () => fetch('/api/v1/others')));
      expect(others.every(({ status }) => status === 200)).toBe(true);
    }
    for (const response of waiting) sendJson(response, 200, []);
    expect((await Promise.all(stuck)).every(({ status }) => status === 200)).toBe(true);
    expect((await fetch('/api/v1/others')).status).toBe(200);
  });

  it('has room for requests of other tenants, and of other users, while one user sends as many as it can', async () => {
    const waiting: ServerResponse[] = [];
    const slow = await startUpstream((_request, response) => void waiting.push(response));
    const { fetch } = await startGateway({ things: slow }, { UPSTREAM_CONCURRENCY_MAX: '20' });
    const asAda = (length: number) => Array.from({ length }, () => fetch('/api/v1/things'));
    const adas = asAda(7);
    await until(() => waiting.length === 7);
    const [refused] = (await Promise.all(asAda(13))) as [Response];
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({
      type: expect.stringMatching(/share-used-up$/),
      scope: 'user',
    });
    const grace = fetch('/api/v1/things', { as: { sub: 'grace' } });
    const bob = fetch('/api/v1/things', { as: { tenantId: OTHER_TENANT_ID } });
    await until(() => waiting.length === 9);
    for (const response of waiting) sendJson(response, 200, []);
    const served = await Promise.all([...adas, grace, bob]);
    expect(served.every(({ status }) => status === 200)).toBe(true);
  });
});

describe('an error response that is not a problem', () => {
  it('is replaced by a problem', async () => {
    for (const status of [400, 404, 413, 431, 500, 502]) {
      const upstream = await startUpstream((request, response) => {
        request.resume();
        response.writeHead(status, { 'content-type': 'text/html' }).end('<pre>Error: at /srv/app.js:1</pre>');
      });
      const { fetch } = await startGateway({ things: upstream });
      for (const path of ['/api/v1/things', '/api/v1/files/x']) {
        const response = await fetch(path);
        expect(response.headers.get('content-type')).toBe('application/problem+json');
        const text = await response.text();
        expect(text).not.toContain('srv');
        expect(JSON.parse(text)).toMatchObject({
          status: response.status,
          instance: path,
          traceId: expect.any(String),
        });
      }
    }
  });
});

describe('a client that disconnects', () => {
  const leaveWhen = async (
    gateway: Pick<StartedGateway, 'fetch'>,
    path: string,
    reached: () => boolean,
    init: RequestInit = {},
  ) => {
    const leaving = new AbortController();
    const response = gateway
      .fetch(path, { ...init, signal: leaving.signal })
      .then((response) => response.text());
    response.catch(() => undefined);
    await until(reached);
    leaving.abort();
  };

  it.each(['/api/v1/things', '/api/v1/files/x', '/api/v1/things/all/events'])(
    'cancels its request to the service: %s',
    async (path) => {
      let reached = false;
      let cancelled = false;
      const upstream = await startUpstream((_request, response) => {
        reached = true;
        response.on('close', () => (cancelled = !response.writableFinished));
      });
      const gateway = await startGateway({ things: upstream });
      await leaveWhen(gateway, path, () => reached);
      await until(() => cancelled);
    },
  );

  it('stops a large response, and a client that reads slowly does not fill the memory', async () => {
    let sent = 0;
    let stopped = false;
    const chunk = Buffer.alloc(64 * 1024);
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 1024 ** 3 });
      const write = (): void => {
        while (sent < 1024 ** 3) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
      };
      response.on('close', () => (stopped = true));
      write();
    });
    const gateway = await startGateway({ things: upstream });
    for (const path of ['/api/v1/files/x', '/api/v1/things']) {
      sent = 0;
      stopped = false;
      const headers = { authorization: `Bearer ${await gateway.token()}` };
      const request = httpRequest({ port: gateway.port, path, headers }).end();
      const response = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve));
      response.pause();
      let before = -1;
      await until(() => {
        const isStill = sent === before && sent > 0;
        before = sent;
        return isStill;
      });
      expect(sent).toBeLessThan(64 * 1024 * 1024);
      request.destroy();
      await until(() => stopped);
    }
  });
});

describe('streams through the gateway', () => {
  it('deliver events one by one, without buffering', async () => {
    let sendText = (_text: string): void => undefined;
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.flushHeaders();
      sendText = (text) => void response.write(text);
    });
    const { fetch } = await startGateway({ things: upstream });
    const response = await fetch('/api/v1/things/all/events');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('api-supported-versions')).toBe('1.0');
    const reader = response.body!.getReader();
    for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
      sendText(text);
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(text);
    }
    await reader.cancel();
  });

  it('deliver uploads byte for byte, with the caller', async () => {
    let received: Awaited<ReturnType<typeof receive>> | undefined;
    const upstream = await startUpstream((request, response) => {
      void receive(request).then((receivedRequest) => {
        received = receivedRequest;
        sendJson(response, 201, {}, { location: '/api/v1/files/1' });
      });
    });
    const { fetch } = await startGateway({ things: upstream });
    const form = new FormData();
    form.set('file', new Blob(['a,b\r\n'.repeat(100_000)]), 'a.csv');
    const response = await fetch('/api/v1/files/', { method: 'POST', body: form });
    expect([response.status, response.headers.get('location')]).toEqual([201, '/api/v1/files/1']);
    expect(received!.body).toContain('a,b\r\n'.repeat(100_000));
    expect(received!.claims.caller).toMatchObject({ userId: 'ada' });
    expect(received!.url).toBe('/api/v1/files');
  });

  it('tell a client that waits with its upload to go on', async () => {
    const upstream = await startUpstream((request, response) => {
      void receive(request).then(({ body }) => sendJson(response, 201, { body }));
    });
    const { port, token } = await startGateway({ things: upstream });
    const headers = {
      authorization: `Bearer ${await token()}`,
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': 5,
      expect: '100-continue',
    };
    const upload = httpRequest({ port, method: 'POST', path: '/api/v1/files', headers, agent: false });
    upload.on('error', () => undefined).on('continue', () => upload.end('--x--'));
    upload.flushHeaders();
    const [{ statusCode }] = (await once(upload, 'response')) as [IncomingMessage];
    expect(statusCode).toBe(201);
  });

  it('deliver downloads with their type, name and size', async () => {
    const body = Buffer.alloc(3_000_000, 'x');
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': body.length,
        'content-disposition': 'attachment; filename="a.csv"',
      });
      response.end(body);
    });
    const { fetch } = await startGateway({ things: upstream });
    const response = await fetch('/api/v1/files/a');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.csv"');
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect((await response.arrayBuffer()).byteLength).toBe(body.length);
  });
});
