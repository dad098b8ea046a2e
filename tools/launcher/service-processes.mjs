import { join } from 'node:path';
import { projectNode, root } from './paths.mjs';

/** A worker streams its files; without a limit Node.js would let garbage pile up for as long as the machine has memory. */
const memoryLimit = (/** @type {string} */ process) =>
  process.endsWith('-worker') ? ['--max-old-space-size=160', '--max-semi-space-size=8'] : [];

/**
 * The processes of a service: its HTTP process, and its worker where it has one.
 * @param {import('./services.mjs').Service} service
 * @param {NodeJS.ProcessEnv} environment
 * @param {Record<string, number>} ports
 * @returns {import('./supervisor.mjs').ProcessSpec[]}
 */
export function serviceProcesses({ name, hasWorker }, environment, ports) {
  const http = /** @type {number} */ (ports[`${name}-http`]);
  const main = nodeProcess(name, join(name, 'main.js'), ports[`${name}-admin`], http);
  const worker = nodeProcess(`${name}-worker`, join(name, 'worker.js'), ports[`${name}-worker-admin`]);
  return hasWorker ? [main, worker] : [main];

  /** @type {(process: string, bundle: string, admin: number | undefined, port?: number) => import('./supervisor.mjs').ProcessSpec} */
  function nodeProcess(process, bundle, admin = 0, port = admin) {
    return {
      name: process,
      kind: name === 'gateway' ? 'gateway' : 'service',
      command: projectNode(),
      args: ['--enable-source-maps', ...memoryLimit(process), join(root, 'dist', 'apps', bundle)],
      cwd: root,
      env: {
        ...environment,
        HTTP_PORT: String(http),
        GRPC_PORT: String(ports[`${name}-grpc`]),
        ADMIN_PORT: String(admin),
      },
      port,
      probe: { kind: 'http', url: `http://127.0.0.1:${admin}/readyz` },
      graceSeconds: 15,
    };
  }
}
