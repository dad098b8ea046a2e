import { mkdirSync } from 'node:fs';

/**
 * @param {{ layout: import('../paths.mjs').Layout, program: string, port: number }} options
 * @returns {import('../supervisor.mjs').ProcessSpec}
 */
export function prepareRedis({ layout, program, port }) {
  const directory = layout.server('redis');
  mkdirSync(directory, { recursive: true });
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    appendonly: 'yes',
    // The idempotency records are here: nothing may be evicted to make room.
    'maxmemory-policy': 'noeviction',
    save: '',
    // It looks for work of its own that often a second; ten times is what it uses most of its time for at rest.
    hz: 1,
  };
  return {
    name: 'redis',
    kind: 'server',
    command: program,
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
    cwd: directory,
    env: process.env,
    port,
    probe: { kind: 'redis', port },
  };
}

/** @param {number} port */
export function redisUrl(port) {
  return `redis://127.0.0.1:${port}`;
}
