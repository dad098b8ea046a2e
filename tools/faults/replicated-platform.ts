import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';
import { portNamesOf } from '../launcher/environment.mjs';
import { createFolders, layoutOf, type Layout } from '../launcher/paths.mjs';
import { reservePorts } from '../launcher/ports.mjs';
import { discoverServices } from '../launcher/services.mjs';
import { ServiceAddress } from './service-address';

/** A load sends more requests a minute than people do. */
const RATE_LIMITS = JSON.stringify({ default: { user: 1e9, tenant: 1e9, address: 1e9 } });
/** Longer than the gateway keeps an unused connection to a service. */
const DRAIN_SECONDS = '4';

/** Where others find a process: the variable that says to it where to listen, and the address before that port. */
export interface Door {
  variable: 'HTTP_PORT' | 'GRPC_PORT';
  address: ServiceAddress;
  /** Of the address. */
  port: number;
}

export interface ReplaceableProcess {
  name: string;
  adminPort: number;
  /** None where nobody asks the process anything, such as a worker. */
  doors: Door[];
}

export interface ReplicatedPlatform {
  /** Where clients ask. */
  url: string;
  processes: ReplaceableProcess[];
  /** The process that the launcher keeps running under this name now. */
  pidOf(name: string): number | undefined;
  /** Where it keeps its ports and logs. */
  layout: Layout;
  stop(): Promise<void>;
}

/** Starts a platform of its own in which every process is found by an address that can have several replicas behind it. */
export async function startReplicatedPlatform(dataDirectory: string): Promise<ReplicatedPlatform> {
  const layout = layoutOf(dataDirectory);
  createFolders(layout);
  const services = discoverServices().filter(({ hasMain }) => hasMain);
  const ports = await reservePorts(layout.ports, portNamesOf(services));
  const processes = (await Promise.all(services.map((service) => processesOf(service, ports)))).flat();
  const gateway = processes.find(({ name }) => name === 'gateway')!;
  const platform: RunningPlatform = await startPlatform({
    dataDirectory,
    port: ports['gateway-http']!,
    environment: {
      HTTP_SERVICES: addressBook(processes, 'HTTP_PORT', 'http://127.0.0.1:'),
      GRPC_SERVICES: addressBook(processes, 'GRPC_PORT', '127.0.0.1:'),
      DRAIN_SECONDS,
      RATE_LIMITS,
    },
  });
  return {
    url: `http://127.0.0.1:${gateway.doors[0]!.port}`,
    processes,
    pidOf: (name) => platform.processIds()[name],
    layout,
    stop: async () => {
      await platform.stop();
      for (const { doors } of processes) for (const { address } of doors) address.close();
    },
  };
}

async function processesOf(
  { name, hasWorker }: { name: string; hasWorker: boolean },
  ports: Record<string, number>,
): Promise<ReplaceableProcess[]> {
  const adminPort = ports[`${name}-admin`]!;
  const openDoor = async (variable: Door['variable'], purpose: string): Promise<Door> => {
    const address = new ServiceAddress();
    address.add({ port: ports[`${name}-${purpose}`]!, adminPort });
    return { variable, address, port: await address.open() };
  };
  const http = await openDoor('HTTP_PORT', 'http');
  const doors = name === 'gateway' ? [http] : [http, await openDoor('GRPC_PORT', 'grpc')];
  const worker = { name: `${name}-worker`, adminPort: ports[`${name}-worker-admin`]!, doors: [] };
  return [{ name, adminPort, doors }, ...(hasWorker ? [worker] : [])];
}

const addressBook = (
  processes: readonly ReplaceableProcess[],
  variable: Door['variable'],
  before: string,
): string =>
  processes
    .filter(({ name }) => name !== 'gateway')
    .flatMap(({ name, doors }) =>
      doors.filter((door) => door.variable === variable).map(({ port }) => `${name}=${before}${port}`),
    )
    .join(',');
