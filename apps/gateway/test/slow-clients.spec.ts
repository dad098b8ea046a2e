import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@plinth/testing/eventually';
import { startGatewayProcess, type GatewayProcess } from './gateway-process';
import { requestHead, sendRaw } from './raw-http';
import {
  closeAll,
  onCloseAll,
  OTHER_TENANT_ID,
  sendJson,
  startGateway,
  startUpstream,
} from './start-gateway';

afterEach(closeAll);

/** Of each kind. */
const SLOW_CLIENTS = 50;
const SLOW_READERS = 8;
/** More than the system holds on its own on the way to a client; made once, so that the service is never busy. */
const LARGE = Buffer.from(JSON.stringify('x'.repeat(32 * 1024 * 1024)));

const MULTIPART = 'Content-Type: multipart/form-data; boundary=x';

const startService = () =>
  startUpstream((request, response) => {
    request.resume().once('end', () => {
      if (!request.url!.endsWith('/large')) return sendJson(response, 200, []);
      response.setHeader('content-type', 'application/json').end(LARGE);
    });
  });

interface SlowClient {
  socket: Socket;
  /** What it received before its connection was closed. */
  closed: Promise<string>;
}

function open(port: number, bytes: string, { reads = true } = {}): SlowClient {
  const socket = connect(port, '127.0.0.1');
  onCloseAll(() => socket.destroy());
  let text = '';
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  socket.on('error', () => undefined);
  if (reads) socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.write(bytes);
  return { socket, closed };
}

const many = (make: () => SlowClient): SlowClient[] => Array.from({ length: SLOW_CLIENTS }, make);

/** Each request on a connection of its own, which is ended before the gateway could think it idle. */
const expectServed = async ({ port }: GatewayProcess, credential: string): Promise<void> => {
  const request = requestHead('GET /api/v1/things', credential, 'Connection: close');
  for (let count = 0; count < 20; count++) expect((await sendRaw(port, request)).status).toBe(200);
};

describe('hundreds of slow clients', () => {
  it('get 408 for headers, bodies and uploads that never end, while other clients are served', async () => {
    const gateway = await startGatewayProcess(
      { things: await startService() },
      {
        HEADERS_TIMEOUT_MILLISECONDS: '2000',
        BODY_TIMEOUT_MILLISECONDS: '2000',
        UPLOAD_RATE_MILLISECONDS: '2000',
      },
    );
    const credential = `Authorization: Bearer ${await gateway.token()}`;
    const head = requestHead('POST /api/v1/things', credential, 'Content-Length: 10');
    const silent = many(() => open(gateway.port, ''));
    const heads = many(() => open(gateway.port, 'GET /api/v1/things HTTP/1.1\r\nHost: a\r\nX-Slow: '));
    const bodies = many(() => open(gateway.port, `${head}12`));
    const upload = requestHead('POST /api/v1/files', credential, MULTIPART, 'Content-Length: 10000');
    const uploads = many(() => open(gateway.port, `${upload}--x`));
    for (const { socket } of heads) {
      const dripping = setInterval(() => socket.write('a'), 100);
      socket.once('close', () => clearInterval(dripping));
    }
    await expectServed(gateway, credential);
    const text = await Promise.all([...silent, ...heads, ...bodies, ...uploads].map(({ closed }) => closed));
    expect(text.filter((text) => !text.startsWith('HTTP/1.1 408 '))).toEqual([]);
    await expectServed(gateway, credential);
  });

  it('that pause in their uploads do not make a service seem away to others', async () => {
    const gateway = await startGatewayProcess(
      { things: await startService() },
      {
        // Shorter than the pauses, and longer than a busy machine takes to respond to the others.
        UPSTREAM_SLOW_TIMEOUT_MILLISECONDS: '1500',
        UPLOAD_RATE_MILLISECONDS: '3000',
        BREAKER_FAILURES_MAX: '3',
        BREAKER_OPEN_MILLISECONDS: '60000',
      },
    );
    const credential = `Authorization: Bearer ${await gateway.token()}`;
    const head = requestHead('POST /api/v1/files', credential, MULTIPART, 'Content-Length: 100');
    const uploads = Array.from({ length: 10 }, () => open(gateway.port, `${head}--x`));
    const text = await Promise.all(uploads.map(({ closed }) => closed));
    expect(text.filter((text) => !text.startsWith('HTTP/1.1 408 '))).toEqual([]);
    await expectServed(gateway, credential);
  });

  it('of one tenant hold half of the uploads to a service at most, and another one uploads beside them', async () => {
    const service = new EventEmitter();
    const url = await startUpstream((request, response) => {
      service.emit('upload');
      request.resume().once('end', () => sendJson(response, 201, {}));
    });
    const { port, token, fetch } = await startGateway({ things: url }, { UPSTREAM_STREAMS_MAX: '12' });
    /** Begins uploads that never end until one is refused; returns how many began. */
    const holdAll = async (sub: string): Promise<number> => {
      const credential = `Authorization: Bearer ${await token({ sub })}`;
      const head = requestHead('POST /api/v1/files', credential, MULTIPART, 'Content-Length: 10000');
      for (let held = 0; ; held++) {
        const { socket } = open(port, `${head}--x`);
        const refusal = once(socket, 'data').then(([bytes]) => String(bytes));
        const outcome = await Promise.race([once(service, 'upload'), refusal]);
        if (typeof outcome !== 'string') continue;
        expect(outcome).toMatch(/^HTTP\/1\.1 429 [^]*share-used-up/);
        return held;
      }
    };

    const held = [await holdAll('ada'), await holdAll('bob'), await holdAll('eve')];
    expect(held).toEqual([4, 2, 0]);

    const upload = { method: 'POST', body: '--x--', headers: { 'content-type': MULTIPART.slice(14) } };
    const other = await fetch('/api/v1/files', { ...upload, as: { tenantId: OTHER_TENANT_ID } });
    expect(other.status).toBe(201);
  });

  it('that do not read their responses are disconnected, while other clients are served', async () => {
    const gateway = await startGatewayProcess(
      { things: await startService() },
      { IDLE_TIMEOUT_MILLISECONDS: '4000', KEEP_ALIVE_MILLISECONDS: '2000' },
    );
    const credential = `Authorization: Bearer ${await gateway.token()}`;
    const head = requestHead('GET /api/v1/things/large', credential);
    for (let count = 0; count < SLOW_READERS; count++)
      open(gateway.port, head, { reads: false }).socket.pause();
    await expectServed(gateway, credential);
    await eventually(async () => (await unfinishedResponses(gateway)) === SLOW_READERS);
    await expectServed(gateway, credential);
  });

  const unfinishedResponses = async ({ adminPort }: GatewayProcess): Promise<number> => {
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(/^plinth_gateway_unfinished_responses_total\{.*\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
});

describe('connections of clients', () => {
  /** Whether a connection gets a response or is closed without one. */
  const isServed = async (port: number): Promise<boolean> =>
    (await open(port, requestHead('GET /healthz')).closed).startsWith('HTTP/1.1 200 ');

  it.each(['CONNECTIONS_PER_ADDRESS_MAX', 'CONNECTIONS_MAX'])(
    'beyond %s are closed at once, until there is room',
    async (limit) => {
      const gateway = await startGatewayProcess({ things: await startService() }, { [limit]: '5' });
      const held = Array.from({ length: 5 }, () => open(gateway.port, 'GET /healthz HTTP/1.1\r\n'));
      while ((await isServed(gateway.port)) === true);
      expect(await isServed(gateway.port)).toBe(false);
      held[0]!.socket.destroy();
      while ((await isServed(gateway.port)) === false);
    },
  );

  it('are closed when they are unused for the announced time', async () => {
    const gateway = await startGatewayProcess(
      { things: await startService() },
      { KEEP_ALIVE_MILLISECONDS: '1000' },
    );
    const { closed } = open(gateway.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    const text = await closed;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(/keep-alive: timeout=1\r\n/i);
  });
});
