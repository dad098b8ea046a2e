import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { endEarlyResponse } from '@plinth/http/end-early-response';
import { systemClock } from '@plinth/kernel/clock';
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
  const port = await listen((request, response) => {
    const trace = noopSpans.begin(undefined);
    const context = new RequestContext(request, response, trace, 'http://plinth.example', []);
    void stream({ context, owner }, request.url!, ['content-type', 'multipart/form-data; boundary=x']);
  });
  return { port, upstream };
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
