import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { probe } from '../launcher/probes.mjs';

const LOOKED_AT_EVERY_MILLISECONDS = 100;

/** One process behind an address. */
export interface Replica {
  port: number;
  adminPort: number;
}

/**
 * What a Service of Kubernetes is on a cluster: one address before several replicas. New connections go in turn to
 * those that say that they are ready; connections that exist are left alone. While none is ready, all are tried, so
 * that processes that wait for each other can start.
 */
export class ServiceAddress {
  private readonly replicas = new Map<Replica, 'ready' | 'not-ready'>();
  private readonly server: Server;
  private readonly looking: NodeJS.Timeout;
  private turn = 0;

  constructor() {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const replica = this.next();
      if (!replica) return void client.destroy();
      const server = connect({ port: replica.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      client.pipe(server).pipe(client);
      client.on('error', () => server.destroy());
      server.on('error', () => client.resetAndDestroy());
    });
    this.looking = setInterval(() => void this.look(), LOOKED_AT_EVERY_MILLISECONDS);
  }

  /** Listens on a free port, and answers it. */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  add(replica: Replica): void {
    this.replicas.set(replica, 'not-ready');
  }

  remove(replica: Replica): void {
    this.replicas.delete(replica);
  }

  /** Whether new connections may go to the replica with this admin port. */
  offers(adminPort: number): boolean {
    return [...this.replicas].some(
      ([replica, state]) => replica.adminPort === adminPort && state === 'ready',
    );
  }

  close(): void {
    clearInterval(this.looking);
    this.server.close();
  }

  private next(): Replica | undefined {
    const all = [...this.replicas];
    const ready = all.filter(([, state]) => state === 'ready');
    const candidates = (ready.length > 0 ? ready : all).map(([replica]) => replica);
    return candidates[this.turn++ % candidates.length];
  }

  private async look(): Promise<void> {
    await Promise.all(
      [...this.replicas.keys()].map(async (replica) => {
        const fault = await probe({ kind: 'http', url: `http://127.0.0.1:${replica.adminPort}/readyz` });
        if (this.replicas.has(replica))
          this.replicas.set(replica, fault === undefined ? 'ready' : 'not-ready');
      }),
    );
  }
}
