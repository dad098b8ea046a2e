import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { CALLER_HEADER, signCaller } from '@plinth/runtime/rpc/signed-caller';
import { bundledProgram } from '@plinth/testing/bundled-program';
import { eventually } from '@plinth/testing/eventually';
import { podsOfProcesses } from '@plinth/testing/pods';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';

const MEBIBYTE = 1024 * 1024;
/** How many attack at the same time; `npm run faults -- memory` sends more. */
const ATTACKERS = 2 * Number(process.env['FAULTS_ATTACKERS'] ?? 4);
/** What holds a service on a cluster; where the manifests cannot be rendered, it only has to live on. */
const pod = podsOfProcesses()?.get('settings');
const MEBIBYTES_MAX = pod?.mebibytesMax ?? Infinity;

let service: ChildProcess;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  const env = { PATH: process.env['PATH'], KEYS: TEST_KEYS.join(',') };
  const program = bundledProgram('libs/http/test/memory-program.ts');
  service = fork(program, { env, execArgv: pod?.nodeOptions.split(' ') ?? [] });
  [port] = (await once(service, 'message')) as [number];
});
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => service.kill('SIGKILL'));

/** The most memory that the service has ever had. */
const peakMebibytes = (): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1024;

/** Every request comes from a tenant of its own, so that only the limit of all together holds them. */
function send(method: string, body: Buffer, place = 'things'): { status: Promise<number>; socket: Socket } {
  const path = `/api/v1/${place}`;
  const caller = aCaller();
  const claims = { caller, tenantId: caller.tenantId, method, path, instance: path };
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    `${CALLER_HEADER}: ${signCaller(claims, TEST_KEYS)}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close\r\n\r\n',
  ].join('\r\n');
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(Buffer.concat([Buffer.from(head), body]));
  const status = once(socket, 'data').then(([data]) => Number(String(data).slice(9, 12)));
  return { status, socket };
}

describe('the memory of a service', () => {
  it.each<[string, string]>([
    ['one text', `"${'x'.repeat(MEBIBYTE - 2)}"`],
    ['empty lists', `[${Array(340_000).fill('[]').join(',')}]`],
    [
      'properties',
      JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, 0]))),
    ],
  ])('holds against the largest bodies of many tenants at the same time: %s', async (_, text) => {
    const statuses = await Promise.all(
      Array.from({ length: ATTACKERS }, () => send('POST', Buffer.from(text)).status),
    );
    expect(statuses.filter((status) => ![204, 429, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(204);
    expect(peakMebibytes()).toBeLessThan(MEBIBYTES_MAX);
  });

  it.each([
    ['at once', 'things'],
    ['after a while', 'report'],
  ])('holds against clients that do not read very large responses that come %s', async (_, place) => {
    const statuses: number[] = [];
    for (let number = 0; number < ATTACKERS; number++) {
      const { status, socket } = send('GET', Buffer.alloc(0), place);
      void status.then((received) => {
        socket.pause();
        statuses.push(received);
      });
    }
    await eventually(() => statuses.length === ATTACKERS);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(ATTACKERS / 2);
    expect(peakMebibytes()).toBeLessThan(MEBIBYTES_MAX);
  });
});
