import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';
import { portNamesOf } from '../../development/launcher/environment.mjs';
import { createFolders, layoutOf, type Layout } from '../../development/launcher/paths.mjs';
import { reservePorts } from '../../development/launcher/ports.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { LIMITED } from './limited-platform';
import { ServiceAddresses, type OpenAddress } from './service-addresses';

/** Longer than the gateway keeps an unused connection to a service. */
const DRAIN_SECONDS = '4';

/** A port of a process: the variable that sets it, and the address that others use instead. */
export interface Listener {
  variable: 'HTTP_PORT' | 'GRPC_PORT';
  address: OpenAddress;
}

export interface ReplaceableProcess {
  name: string;
  adminPort: number;
  /** None for a process that serves no requests, such as a worker. */
  listeners: Listener[];
}

export interface ReplicatedPlatform {
  /** The URL of the gateway. */
  url: string;
  processes: ReplaceableProcess[];
  /** The process that the launcher keeps running under this name now. */
  pidOf(name: string): number | undefined;
  /** Where its ports and logs are stored. */
  layout: Layout;
  stop(): Promise<void>;
}

/** Starts a platform in which every process has an address that can have several replicas behind it. */
export async function startReplicatedPlatform(dataDirectory: string): Promise<ReplicatedPlatform> {
  const layout = layoutOf(dataDirectory);
  createFolders(layout);
  const services = discoverServices().filter(({ hasMain }) => hasMain);
  const ports = await reservePorts(layout.ports, portNamesOf(services));
  const addresses = new ServiceAddresses();
  const processes = (
    await Promise.all(services.map((service) => processesOf(service, ports, addresses)))
  ).flat();
  const gateway = processes.find(({ name }) => name === 'gateway')!;
  const platform: RunningPlatform = await startPlatform({
    dataDirectory,
    port: ports['gateway-http']!,
    environment: {
      HTTP_SERVICES: addressesOf(processes, 'HTTP_PORT', 'http://127.0.0.1:'),
      GRPC_SERVICES: addressesOf(processes, 'GRPC_PORT', '127.0.0.1:'),
      DRAIN_SECONDS,
      ...LIMITED,
    },
  }).catch((error: unknown) => {
    addresses.close();
    throw error;
  });
  return {
    url: `http://127.0.0.1:${gateway.listeners[0]!.address.port}`,
    processes,
    pidOf: (name) => platform.processIds()[name],
    layout,
    stop: async () => {
      await platform.stop();
      addresses.close();
    },
  };
}

async function processesOf(
  { name, hasHttp, hasWorker }: { name: string; hasHttp: boolean; hasWorker: boolean },
  ports: Record<string, number>,
  addresses: ServiceAddresses,
): Promise<ReplaceableProcess[]> {
  const adminPort = ports[`${name}-admin`]!;
  const openListener = async (variable: Listener['variable'], purpose: string): Promise<Listener> => {
    const address = await addresses.open();
    address.add({ port: ports[`${name}-${purpose}`]!, adminPort });
    return { variable, address };
  };
  const listeners = [
    ...(hasHttp ? [await openListener('HTTP_PORT', 'http')] : []),
    ...(name === 'gateway' ? [] : [await openListener('GRPC_PORT', 'grpc')]),
  ];
  const worker = { name: `${name}-worker`, adminPort: ports[`${name}-worker-admin`]!, listeners: [] };
  return [{ name, adminPort, listeners }, ...(hasWorker ? [worker] : [])];
}

const addressesOf = (
  processes: readonly ReplaceableProcess[],
  variable: Listener['variable'],
  before: string,
): string =>
  processes
    .filter(({ name }) => name !== 'gateway')
    .flatMap(({ name, listeners }) =>
      listeners
        .filter((listener) => listener.variable === variable)
        .map(({ address }) => `${name}=${before}${address.port}`),
    )
    .join(',');
