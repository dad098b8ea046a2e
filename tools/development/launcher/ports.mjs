import { createServer } from 'node:net';
import { readJson, writeJson } from './json-file.mjs';

// Below the range from which systems give out client ports, so that no outgoing connection takes one.
const lowest = 20_000;
const highest = 31_999;

/** @param {number} port @param {string} [host] @returns {Promise<boolean>} */
export function isFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A free port for each name; the same ones as last time where they are still free.
 * @template {string} Name
 * @param {string} file
 * @param {Name[]} names
 * @returns {Promise<Record<Name, number>>}
 */
export async function reservePorts(file, names) {
  const previous = readJson(file, /** @type {Record<string, number>} */ ({}));
  const taken = new Set(Object.values(previous));
  const ports = /** @type {Record<string, number>} */ ({});
  for (const name of names) {
    const known = previous[name];
    ports[name] = known !== undefined && (await isFree(known)) ? known : await freePort(taken);
    taken.add(ports[name]);
  }
  writeJson(file, { ...previous, ...ports });
  return ports;
}

/**
 * A free port that is not among the taken ones.
 * @param {ReadonlySet<number>} taken
 */
export async function freePort(taken = new Set()) {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    if (!taken.has(port) && (await isFree(port))) return port;
  }
}

const firstInspectPort = 9229;

/**
 * Where debuggers find the processes of the services: from Node's usual port on, the gateway last.
 * @param {import('./services.mjs').Service[]} services
 */
export async function inspectPortsOf(services) {
  const processes = services
    .toSorted((left, right) => Number(left.name === 'gateway') - Number(right.name === 'gateway'))
    .flatMap(({ name, hasWorker }) => (hasWorker ? [name, `${name}-worker`] : [name]));
  const ports = /** @type {Record<string, number>} */ ({});
  let next = firstInspectPort;
  for (const process of processes) {
    while (!(await isFree(next))) next += 1;
    ports[process] = next++;
  }
  return ports;
}
