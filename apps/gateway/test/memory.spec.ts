import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { podsOfProcesses } from '@plinth/testing/pods';
import { startGatewayProcess, type GatewayProcess } from './gateway-process';
import { requestHead, sendRaw } from './raw-http';
import { closeAll, echo, onCloseAll, OTHER_TENANT_ID, startUpstream } from './start-gateway';

afterEach(closeAll);

const MEBIBYTE = 1024 * 1024;
/** What holds a gateway on a cluster; where the manifests cannot be rendered, the bound below is the only one. */
const pod = podsOfProcesses()?.get('gateway');

/** The most memory that the process has ever had. */
const peakMegabytes = ({ process }: GatewayProcess): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))![1]) / 1024;

const start = async (environment: Record<string, string> = {}) => {
  const services = { things: await startUpstream(echo()) };
  const options = pod?.nodeOptions.split(' ') ?? [];
  const gateway = await startGatewayProcess(services, environment, options, 'external');
  const head = async (...headers: string[]) =>
    requestHead(
      'POST /api/v1/things',
      `Authorization: Bearer ${await gateway.token()}`,
      'Content-Type: application/json',
      ...headers,
    );
  // What the first request loads does not count.
  await sendRaw(gateway.port, `${await head('Content-Length: 2')}{}`);
  return { ...gateway, head, before: peakMegabytes(gateway) };
};

/** How many attack at the same time; `npm run faults -- memory` sends more. */
const ATTACKERS = Number(process.env['FAULTS_ATTACKERS'] ?? 4);
/** What a process with free heap lets grow before it collects garbage. */
const MEGABYTES_MAX = 64 + 2 * ATTACKERS;

describe('the memory of a gateway', () => {
  it.each([
    ['with a key', ['Idempotency-Key: many-chunks']],
    ['without a key', []],
  ])('holds against megabytes of one-byte chunks, %s', async (_, headers) => {
    const gateway = await start();
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(MEBIBYTE), 'latin1');
    const head = Buffer.from(await gateway.head('Transfer-Encoding: chunked', ...headers), 'latin1');
    const attack = Buffer.concat([head, chunks]);
    const responses = await Promise.all(
      Array.from({ length: ATTACKERS }, () => sendRaw(gateway.port, attack)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([413]));
    expect(responses[0]!.body).toContain('chunks');
    expect(peakMegabytes(gateway) - gateway.before).toBeLessThan(MEGABYTES_MAX);
    expect(peakMegabytes(gateway)).toBeLessThan(pod?.mebibytesMax ?? Infinity);
  });

  it.each([
    [
      'requests without a credential, whose responses nobody reads',
      false,
      2 * ATTACKERS,
      'GET /api/v1/things HTTP/1.1\r\nHost: plinth.example\r\n\r\n'.repeat(40_000),
    ],
    ['headers that never end', true, 250 * ATTACKERS, `GET / HTTP/1.1\r\n${'ab:cd\r\n'.repeat(2_300)}`],
  ])('holds against %s', async (_, reads, connections, attack) => {
    const gateway = await start({ HEADERS_TIMEOUT_MILLISECONDS: '1000' });
    const bytes = Buffer.from(attack, 'latin1');
    const growth = (): number => peakMegabytes(gateway) - gateway.before;
    const open = new Set<Socket>();
    for (let number = 0; number < connections; number++) {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      onCloseAll(() => socket.destroy());
      socket.write(bytes);
      if (reads) socket.resume();
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    await eventually(() => {
      // Who neither reads nor writes is not told that a connection is closed.
      for (const socket of open) socket.write('x');
      return open.size === 0 || growth() >= MEGABYTES_MAX;
    });
    expect(growth()).toBeLessThan(MEGABYTES_MAX);
    expect(peakMegabytes(gateway)).toBeLessThan(pod?.mebibytesMax ?? Infinity);
  });

  it('has room for requests of others while one tenant sends as many slow bodies as it can', async () => {
    const gateway = await start({ BUFFERED_BYTES_MAX: String(4 * MEBIBYTE) });
    const body = Buffer.alloc(900 * 1024, 'x');
    const refusals = new Set<number>();
    for (let number = 0; number < 6 * ATTACKERS; number++) {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
      onCloseAll(() => socket.destroy());
      socket.on('data', (data) => refusals.add(Number(data.toString('latin1').slice(9, 12))));
      socket.write(await gateway.head('Content-Length: 1000000', `Idempotency-Key: slow-${number}`));
      socket.write(body);
    }
    await eventually(() => refusals.has(429));
    const response = await gateway.fetch('/api/v1/things', {
      method: 'POST',
      body: JSON.stringify('x'.repeat(500 * 1024)),
      headers: { 'content-type': 'application/json', 'idempotency-key': newId() },
      as: { tenantId: OTHER_TENANT_ID },
    });
    expect(response.status).toBe(200);
    expect(peakMegabytes(gateway) - gateway.before).toBeLessThan(MEGABYTES_MAX);
    expect(peakMegabytes(gateway)).toBeLessThan(pod?.mebibytesMax ?? Infinity);
  });
});
