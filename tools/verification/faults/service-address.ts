import { connect, createServer, type AddressInfo, type Server } from 'node:net';
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
  private readonly replicas = new Map<Replica, 'ready' | 'not-ready'>();
  private readonly server: Server;
  private readonly readinessTimer: NodeJS.Timeout;
  private nextIndex = 0;

  constructor() {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const replica = this.next();
      if (!replica) return void client.destroy();
      const server = connect({ port: replica.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      client.pipe(server).pipe(client);
      client.on('error', () => server.destroy());
      server.on('error', () => client.resetAndDestroy());
    });
    this.readinessTimer = setInterval(() => void this.checkReadiness(), READINESS_CHECK_MILLISECONDS);
  }

  /** Listens on a free port, and returns it. */
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

  /** Whether the replica with this admin port receives new connections. */
  isReady(adminPort: number): boolean {
    return [...this.replicas].some(
      ([replica, state]) => replica.adminPort === adminPort && state === 'ready',
    );
  }

  close(): void {
    clearInterval(this.readinessTimer);
    this.server.close();
  }

  private next(): Replica | undefined {
    const all = [...this.replicas];
    const ready = all.filter(([, state]) => state === 'ready');
    const candidates = (ready.length > 0 ? ready : all).map(([replica]) => replica);
    return candidates[this.nextIndex++ % candidates.length];
  }

  private async checkReadiness(): Promise<void> {
    await Promise.all(
      [...this.replicas.keys()].map(async (replica) => {
        const error = await probe({ kind: 'http', url: `http://127.0.0.1:${replica.adminPort}/readyz` });
        if (this.replicas.has(replica))
          this.replicas.set(replica, error === undefined ? 'ready' : 'not-ready');
      }),
    );
  }
}
