import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { endEarlyResponse } from '@plinth/http/end-early-response';
import { systemClock } from '@plinth/kernel/clock';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { RequestContext } from '../request-context';
import { noopSpans } from '../trace';
import { createStreamProxy } from './stream-proxy';
import { Upstream } from './upstream';

const SETTINGS = {
  concurrencyMax: 10,
  streamsMax: 10,
  turns: 10,
  timeoutMilliseconds: 10_000,
  slowTimeoutMilliseconds: 10_000,
  uploadRateMin: { bytes: 1_000, milliseconds: 60_000 },
  breakerFailuresMax: 10,
  breakerOpenMilliseconds: 1_000,
};
const SIZE = 32 * 1024 * 1024;
const PROBLEM = JSON.stringify({ title: 'Busy', status: 503, detail: 'The database does not respond.' });
const REFUSAL = {
  'content-type': 'application/problem+json',
  'content-length': Buffer.byteLength(PROBLEM),
  'retry-after': '2',
  connection: 'close',
};

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close().closeAllConnections()));

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A stream proxy in front of a service. */
async function startProxy(service: RequestListener, settings = SETTINGS) {
  const upstream = new Upstream('things', `http://127.0.0.1:${await listen(service)}`, settings, systemClock);
  const stream = createStreamProxy(upstream, new EventLoopTurns());
  const owner = { tenantId: 'acme', userId: 'ada' };
  const requests: IncomingMessage[] = [];
  const port = await listen((request, response) => {
    requests.push(request);
    const trace = noopSpans.begin(undefined);
    const context = new RequestContext(request, response, trace, 'http://plinth.example', []);
    const { timeoutMilliseconds } = settings;
    void stream({ context, owner, timeoutMilliseconds }, request.url!, [
      'content-type',
      'multipart/form-data; boundary=x',
    ]);
  });
  return { port, upstream, requests };
}

/** Sends all of its body before it reads anything, as many clients do; what went wrong is all that it gets otherwise. */
const sendBeforeReading = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').pause();
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', ({ message }) => (text ||= message)).on('close', () => resolve(text));
    socket.write(`POST /files HTTP/1.1\r\nHost: plinth.example\r\nContent-Length: ${SIZE}\r\n\r\n`);
    socket.write(Buffer.alloc(SIZE, 'a,b\r\n'), () => socket.resume());
  });

describe('an upload that a service refuses before it has all of it', () => {
  it.each<[string, RequestListener]>([
    [
      'reads on',
      (request, response) => {
        response.writeHead(503, REFUSAL);
        endEarlyResponse(request, response, PROBLEM);
      },
    ],
    [
      'closes the connection at once',
      (request, response) => {
        request.pause();
        response.writeHead(503, REFUSAL).write(PROBLEM, () => request.destroy());
      },
    ],
  ])('gets its problem, however late its client reads it, where the service %s', async (_, service) => {
    const { port } = await startProxy(service);
    expect(await sendBeforeReading(port)).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: 2[^]*"status":503/i);
  });

  it.each<[string, RequestListener]>([
    [
      'is too long',
      (request, response) => {
        const long = PROBLEM.padEnd(100_000);
        response.writeHead(503, { ...REFUSAL, 'content-length': long.length });
        endEarlyResponse(request, response, long);
      },
    ],
    [
      'never ends',
      (request, response) => {
        request.resume();
        response.writeHead(503, REFUSAL).write(PROBLEM.slice(0, 10));
      },
    ],
  ])('gets a problem of its status where that of the service %s', async (_, service) => {
    const { port } = await startProxy(service, { ...SETTINGS, timeoutMilliseconds: 200 });
    expect(await sendBeforeReading(port)).toMatch(/^HTTP\/1\.1 503 [^]*"status":503/i);
  });

  it('says nothing against the service, which has responded', async () => {
    const { port, upstream } = await startProxy((request, response) => {
      response.writeHead(503, REFUSAL);
      endEarlyResponse(request, response, PROBLEM);
    });
    const failed = jest.spyOn(upstream.breaker, 'failed');
    await sendBeforeReading(port);
    expect(failed).not.toHaveBeenCalled();
  });
});

it('serves the next request where the response to HEAD does not end for its service', async () => {
  const { port } = await startProxy((request, response) => {
    if (request.method === 'HEAD') response.writeHead(200, { 'content-length': SIZE }).flushHeaders();
    else response.end('served');
  });
  const url = `http://127.0.0.1:${port}/files`;
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(SIZE)]);
  expect(await (await fetch(url)).text()).toBe('served');
});

it('takes a stream that its service does not respond to for no failure of it where that responds to others', async () => {
  const waiting = Promise.withResolvers<void>();
  // Long enough for a busy machine to serve another request meanwhile.
  const settings = { ...SETTINGS, timeoutMilliseconds: 2_000, breakerFailuresMax: 1 };
  const { port, upstream } = await startProxy((request, response) => {
    if (request.url === '/files') response.end('served');
    else waiting.resolve();
  }, settings);
  const late = fetch(`http://127.0.0.1:${port}/never`);
  await waiting.promise;
  await fetch(`http://127.0.0.1:${port}/files`);
  expect((await late).status).toBe(503);
  expect(upstream.breaker.state).toBe('Closed');
  settings.timeoutMilliseconds = 200;
  expect((await fetch(`http://127.0.0.1:${port}/never`)).status).toBe(503);
  expect(upstream.breaker.state).toBe('Open');
});

describe('an upload that arrives slowly', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS }));
  afterEach(() => void jest.useRealTimers());

  const { milliseconds } = SETTINGS.uploadRateMin;
  const head = `POST /files HTTP/1.1\r\nHost: plinth.example\r\nConnection: close\r\nContent-Length: ${SIZE}\r\n\r\n`;

  /** A client that has sent a part of an upload; its service reads it once it is told to. */
  async function beginUpload(bytes: number) {
    const arrived = Promise.withResolvers<IncomingMessage>();
    const proxy = await startProxy((request, response) => {
      request.once('end', () => response.end('stored'));
      arrived.resolve(request);
    });
    const socket = connect(proxy.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined);
    const response = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    socket.write(head);
    socket.write(Buffer.alloc(bytes, 'a,b\r\n'));
    const atService = await arrived.promise;
    return { upstream: proxy.upstream, atGateway: proxy.requests[0]!, atService, response };
  }

  it('gets 408, and its service what it holds for it, which says nothing against the service', async () => {
    const { upstream, atGateway, atService, response } = await beginUpload(100);
    atService.resume();
    await eventually(() => atGateway.socket.bytesRead === head.length + 100);
    const failed = jest.spyOn(upstream.breaker, 'failed');
    const closed = new Promise((resolve) => atService.once('close', resolve));
    jest.advanceTimersByTime(milliseconds + 1);
    await closed;
    expect(atService.complete).toBe(false);
    expect(await response).toMatch(/^HTTP\/1\.1 408 [^]*application\/problem\+json[^]*"status":408/);
    expect(failed).not.toHaveBeenCalled();
  });

  it('goes on for as long as its service holds it back', async () => {
    const { atGateway, atService, response } = await beginUpload(SIZE);
    let before = -1;
    // Until the system has taken all that it holds on the way.
    await eventually(() => {
      const { bytesRead } = atGateway.socket;
      const isHeld = atGateway.readableFlowing === false && bytesRead === before;
      before = bytesRead;
      return isHeld;
    });
    jest.advanceTimersByTime(3 * milliseconds);
    atService.resume();
    expect(await response).toMatch(/^HTTP\/1\.1 200 [^]*stored$/);
  });
});
