import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Tenants take turns on a task queue, however many tasks one of them has in it: exactly so where it has one part. */
const turns = [
  'matching.enableFairness=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

/**
 * Each of its four parts reads all namespaces every two seconds, which is half of what it does at rest. One that a part
 * does not know is looked up when it is asked for.
 */
const rarely = ['system.namespaceCacheRefreshInterval="1m"'];

/**
 * Temporal's development server, with its state in a file so that a restart goes on with running workflows.
 * @param {{ layout: import('../paths.mjs').Layout, program: string, port: number, httpPort: number, uiPort: number, metricsPort: number }} options
 * @returns {import('../supervisor.mjs').ProcessSpec}
 */
export function prepareTemporal({ layout, program, port, httpPort, uiPort, metricsPort }) {
  const directory = layout.server('temporal');
  mkdirSync(directory, { recursive: true });
  const flags = {
    ip: '127.0.0.1',
    port,
    'http-port': httpPort,
    'ui-port': uiPort,
    'metrics-port': metricsPort,
    'db-filename': join(directory, 'temporal.db'),
    'log-level': 'warn',
  };
  return {
    name: 'temporal',
    kind: 'server',
    command: program,
    args: [
      'server',
      'start-dev',
      '--disable-config-file',
      '--disable-config-env',
      ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]),
      ...[...turns, ...rarely].flatMap((value) => ['--dynamic-config-value', value]),
    ],
    cwd: directory,
    env: process.env,
    port,
    probe: { kind: 'http', url: `http://127.0.0.1:${httpPort}/api/v1/namespaces/default` },
  };
}
