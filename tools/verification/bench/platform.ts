import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { databaseUrl } from '../../development/launcher/environment.mjs';
import { layoutOf, projectNode, root } from '../../development/launcher/paths.mjs';
import { freePort } from '../../development/launcher/ports.mjs';
import type { NamedProcess } from './processes.ts';

/** A platform to measure, through its gateway. */
export interface BenchTarget {
  url: string;
  redisUrl: string;
  /** With the role of the service; for rows that would take hours to write over HTTP. */
  databaseUrlOf(service: string): string;
  /** With a role that bypasses row-level security, which COPY into a table requires. */
  adminUrlOf(service: string): string;
  /** Every process of the platform, its servers included, and where those of services show their metrics. */
  processes: readonly (NamedProcess & { metricsUrl: string | undefined })[];
}

/** A bench sends more requests per minute than the limits for people allow. */
const RATE_LIMITS = JSON.stringify({ default: { user: 1e9, tenant: 1e9, address: 1e9 } });

/**
 * Starts an empty platform, since cleaning up after an earlier bench would affect the measurement.
 * @param name tells platforms that run at the same time apart
 */
export async function startBenchPlatform(name = 'bench'): Promise<BenchTarget & { stop(): Promise<void> }> {
  const port = await freePort();
  const data = `.plinth/${name}`;
  const layout = layoutOf(data);
  rmSync(layout.data, { recursive: true, force: true });
  await launcher('start.mjs', data, ['--detach', '--port', String(port), '--parent', String(process.pid)]);
  const read = (file: string) => JSON.parse(readFileSync(join(layout.data, file), 'utf8'));
  const ports = read('ports.json');
  const secrets = read('secrets.json');
  const admin = `postgresql://postgres:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`;
  return {
    url: `http://localhost:${port}`,
    redisUrl: `redis://127.0.0.1:${ports.redis}`,
    databaseUrlOf: (service) => databaseUrl(service, admin, secrets),
    adminUrlOf: (service) => {
      const address = new URL(admin);
      address.pathname = new URL(databaseUrl(service, admin, secrets)).pathname;
      return address.href;
    },
    processes: read('processes.json').processes.map(toBenchProcess),
    stop: () => launcher('stop.mjs', data, []),
  };
}

/** The state of the launcher says how it asks a process whether it is ready. */
const toBenchProcess = ({ name, pid, probe }: NamedProcess & { probe: { url?: string } }) => ({
  name,
  pid,
  metricsUrl: probe.url?.endsWith('/readyz') ? probe.url.replace('/readyz', '/metrics') : undefined,
});

async function launcher(script: string, data: string, options: string[]): Promise<void> {
  const args = [join(root, 'tools/development/launcher', script), ...options, '--data', data];
  await promisify(execFile)(projectNode(), args, { cwd: root, env: { ...process.env, RATE_LIMITS } });
}
