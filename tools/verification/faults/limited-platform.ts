import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@plinth/testing/eventually';
import { podsOfProcesses } from '@plinth/testing/pods';
import { sharedPlatform, type SharedPlatform } from '@plinth/testing/shared-platform';
import { probe, type Probe } from '../../development/launcher/probes.mjs';

/** What holds the processes on a cluster; where the manifests cannot be rendered, they only have to live on. */
export const pods = podsOfProcesses();

/** The heaps that `k8s/` gives, and no rate limits, since an attacker may have many users. */
export const LIMITED = {
  NODE_OPTIONS: pods?.get('settings')?.nodeOptions ?? '',
  RATE_LIMITS: JSON.stringify({ default: { user: 1e9, tenant: 1e9, address: 1e9 } }),
};
/**
 * Starts of jobs that were lost with a killed process are looked for every fifth time. The small campaigns would wait for
 * that most of their time; the large ones have the usual setting.
 */
const IMPATIENT = { EXCHANGE_SWEEP_SECONDS: '1' };
const READY_MILLISECONDS_MAX = 120_000;

/**
 * The platform of all small campaigns of a run, whose processes have the heaps that `k8s/` gives them. Each of them is
 * ready: who had the platform before may have killed some at last.
 */
export async function limitedPlatform(): Promise<SharedPlatform> {
  const platform = await sharedPlatform('faults', { ...LIMITED, ...IMPATIENT });
  await eventually(() => areReady(platform.dataDirectory), READY_MILLISECONDS_MAX);
  return platform;
}

async function areReady(dataDirectory: string): Promise<boolean> {
  const state: { processes: { pid?: number; probe: Probe }[] } = JSON.parse(
    readFileSync(join(dataDirectory, 'processes.json'), 'utf8'),
  );
  const problems = await Promise.all(state.processes.map((process) => probe(process.probe)));
  return problems.every((problem, at) => problem === undefined && state.processes[at]!.pid !== undefined);
}
