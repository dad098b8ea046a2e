import { join } from 'node:path';
import { ownEnvironment } from './environment.mjs';
import { projectNode, root } from './paths.mjs';

/**
 * A worker streams its files. Without limits Node.js would let garbage grow for as long as the machine has memory,
 * and the allocator of C would keep a heap for each thread, and in it the holes that large buffers leave behind.
 */
const memoryLimit = (/** @type {string} */ process) =>
  process.endsWith('-worker') ? ['--max-old-space-size=112', '--max-semi-space-size=4'] : [];
const allocator = (/** @type {string} */ process) =>
  process.endsWith('-worker') ? { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '16384' } : {};

/**
 * One process with the stubs of services that do not run, at their ports.
 * @param {import('./services.mjs').Service[]} services
 * @param {NodeJS.ProcessEnv} environment
 * @param {Record<string, number>} ports
 * @returns {import('./supervisor.mjs').ProcessSpec}
 */
export function stubProcess(services, environment, ports) {
  const admin = ports['service-stubs-admin'] ?? 0;
  return {
    name: 'service-stubs',
    kind: 'service',
    command: projectNode(),
    args: [join(root, 'tools', 'development', 'service-stubs', 'main.ts')],
    cwd: root,
    env: {
      ...ownEnvironment('service-stubs', environment),
      SERVICE_STUBS: services.map(({ name }) => name).join(','),
      ADMIN_PORT: String(admin),
    },
    port: admin,
    probe: { kind: 'http', url: `http://127.0.0.1:${admin}/readyz` },
    graceSeconds: 5,
  };
}

/**
 * The processes of a service: its HTTP process, and its worker where it has one.
 * @param {import('./services.mjs').Service} service
 * @param {NodeJS.ProcessEnv} environment
 * @param {Record<string, number>} ports
 * @param {Record<string, number>} [inspectPorts] where a debugger may attach to a process
 * @returns {import('./supervisor.mjs').ProcessSpec[]}
 */
export function serviceProcesses({ name, hasHttp, hasWorker }, environment, ports, inspectPorts = {}) {
  const http = /** @type {number} */ (ports[`${name}-http`]);
  const admin = ports[`${name}-admin`];
  const main = nodeProcess(name, join(name, 'main.js'), admin, hasHttp ? http : admin);
  const worker = nodeProcess(`${name}-worker`, join(name, 'worker.js'), ports[`${name}-worker-admin`]);
  return hasWorker ? [main, worker] : [main];

  /** @type {(process: string, bundle: string, admin: number | undefined, port?: number) => import('./supervisor.mjs').ProcessSpec} */
  function nodeProcess(process, bundle, admin = 0, port = admin) {
    return {
      name: process,
      kind: name === 'gateway' ? 'gateway' : 'service',
      command: projectNode(),
      args: [
        '--enable-source-maps',
        ...memoryLimit(process),
        ...(inspectPorts[process] === undefined ? [] : [`--inspect=127.0.0.1:${inspectPorts[process]}`]),
        join(root, 'dist', 'apps', bundle),
      ],
      cwd: root,
      env: {
        ...ownEnvironment(name, environment),
        ...(hasHttp && { HTTP_PORT: String(http) }),
        GRPC_PORT: String(ports[`${name}-grpc`]),
        ADMIN_PORT: String(admin),
        ...allocator(process),
      },
      port,
      probe: { kind: 'http', url: `http://127.0.0.1:${admin}/readyz` },
      graceSeconds: 15,
    };
  }
}
