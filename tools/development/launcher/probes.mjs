import { connect } from 'node:net';

/**
 * How to find out that a process is ready, as data: it is in the state file, so that `npm run status` does the same as
 * the supervisor.
 * @typedef {{ kind: 'http', url: string } | { kind: 'postgres' | 'redis' | 'tcp', port: number }} Probe
 */

const timeoutMilliseconds = 2_000;

/**
 * Undefined when the process is ready, else what is missing.
 * @param {Probe} probe
 * @returns {Promise<string | undefined>}
 */
export async function probe(probe) {
  try {
    if (probe.kind === 'http') return await probeHttp(probe.url);
    if (probe.kind === 'tcp') return await exchangeBytes(probe.port, undefined, () => true);
    if (probe.kind === 'redis')
      return await exchangeBytes(probe.port, 'PING\r\n', (bytes) => bytes.toString() === '+PONG\r\n');
    return await exchangeBytes(probe.port, postgresGreeting(), (bytes) => bytes[0] === 'R'.charCodeAt(0));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} url */
async function probeHttp(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMilliseconds) });
  const text = await response.text();
  return response.ok ? undefined : `responds with ${response.status} ${text.slice(0, 200)}`;
}

/**
 * @param {number} port
 * @param {string | Buffer | undefined} request
 * @param {(response: Buffer) => boolean} isReady
 * @returns {Promise<string | undefined>}
 */
function exchangeBytes(port, request, isReady) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (/** @type {string | undefined} */ problem) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(timeoutMilliseconds, () => finish('does not respond'));
    socket.on('error', () => finish('does not listen'));
    socket.on('connect', () => (request === undefined ? finish(undefined) : socket.write(request)));
    socket.on('data', (bytes) => finish(isReady(bytes) ? undefined : 'is not ready'));
    socket.on('close', () => finish('closed the connection'));
  });
}

/** The first message of PostgreSQL's protocol 3.0; a server that is ready asks for a password (`R`). */
function postgresGreeting() {
  const body = Buffer.from('user\0postgres\0database\0postgres\0\0');
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, body]);
}
