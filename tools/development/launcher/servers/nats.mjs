import { mkdirSync } from 'node:fs';

/**
 * NATS with JetStream; its monitor shows when the streams can be used.
 * @param {{ layout: import('../paths.mjs').Layout, program: string, port: number, monitorPort: number }} options
 * @returns {import('../supervisor.mjs').ProcessSpec}
 */
export function prepareNats({ layout, program, port, monitorPort }) {
  const directory = layout.server('nats');
  mkdirSync(directory, { recursive: true });
  return {
    name: 'nats',
    kind: 'server',
    command: program,
    args: ['-js', '-sd', directory, '-a', '127.0.0.1', '-p', String(port), '-m', String(monitorPort)],
    cwd: directory,
    env: process.env,
    port,
    probe: { kind: 'http', url: `http://127.0.0.1:${monitorPort}/healthz?js-enabled-only=true` },
  };
}

/** @param {number} port */
export function natsUrl(port) {
  return `nats://127.0.0.1:${port}`;
}
