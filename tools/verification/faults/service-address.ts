import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { probe } from '../../development/launcher/probes.mjs';

const READINESS_CHECK_MILLISECONDS = 100;

/** One process behind an address. */
export interface Replica {
  port: number;
  adminPort: number;
}

/**
 * What a Service is in Kubernetes: one address for several replicas. New connections go round robin to those that
 * are ready; existing connections stay where they are. While none is ready, all are tried, so that processes that wait
 * for each other can start.
 */
export class ServiceAddress {
  /** By its admin port. */
  private readonly replicas = new Map<number, { port: number; isReady: boolean }>();
  private readonly server: Server;
  private readonly onReadiness: (adminPorts: number[]) => void;
  private nextIndex = 0;

  /** @param onReadiness is told the admin ports of those that are ready, whenever they change */
  constructor(onReadiness: (adminPorts: number[]) => void) {
    this.onReadiness = onReadiness;
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const port = this.nextPort();
      if (port === undefined) return void client.destroy();
      const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      client.pipe(server).pipe(client);
      client.on('error', () => server.destroy());
      server.on('error', () => client.resetAndDestroy());
    });
  }

  /** Listens on a free port, and returns it. */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  add({ port, adminPort }: Replica): void {
    const replica = { port, isReady: false };
    this.replicas.set(adminPort, replica);
    void this.watch(adminPort, replica);
  }

  remove({ adminPort }: Replica): void {
    this.replicas.delete(adminPort);
    this.reportReadiness();
  }

  private nextPort(): number | undefined {
    const all = [...this.replicas.values()];
    const ready = all.filter(({ isReady }) => isReady);
    const candidates = ready.length > 0 ? ready : all;
    return candidates[this.nextIndex++ % candidates.length]?.port;
  }

  private async watch(adminPort: number, replica: { isReady: boolean }): Promise<void> {
    while (this.replicas.get(adminPort) === replica) {
      const error = await probe({ kind: 'http', url: `http://127.0.0.1:${adminPort}/readyz` });
      const isReady = error === undefined;
      if (isReady !== replica.isReady) {
        replica.isReady = isReady;
        this.reportReadiness();
      }
      await pause(READINESS_CHECK_MILLISECONDS);
    }
  }

  private reportReadiness(): void {
    this.onReadiness([...this.replicas].filter(([, { isReady }]) => isReady).map(([adminPort]) => adminPort));
  }
}
