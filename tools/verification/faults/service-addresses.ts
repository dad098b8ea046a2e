import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';
import type { Replica } from './service-address.ts';

/** What the process is told; `at` names the address. */
export type AddressRequest =
  { kind: 'open'; at: number } | { kind: 'add' | 'remove'; at: number; replica: Replica };

/** What it responds with: that an address listens, and which of its replicas are ready whenever that changes. */
export type AddressReport =
  { kind: 'open'; at: number; port: number } | { kind: 'ready'; at: number; adminPorts: number[] };

/** One of the addresses, and what is known of it here. */
export interface OpenAddress {
  port: number;
  add(replica: Replica): void;
  remove(replica: Replica): void;
  /** Whether the replica with this admin port receives new connections. */
  isReady(adminPort: number): boolean;
}

/**
 * The addresses of a platform, in a process and a session of their own: Linux shares the processors between sessions
 * first, and what passes through them would wait for the campaign, and the campaign for it.
 */
export class ServiceAddresses {
  private readonly process: ChildProcess;
  private readonly ended: Promise<never>;
  private readonly opened = new Map<number, (port: number) => void>();
  private readonly readyAdminPorts = new Map<number, readonly number[]>();
  private count = 0;

  constructor() {
    const program = join(root, 'tools/verification/faults/service-addresses-process.ts');
    this.process = fork(program, [], { execArgv: [], detached: true });
    this.ended = once(this.process, 'exit').then(() => {
      throw new Error('The process of the addresses ended.');
    });
    this.ended.catch(() => undefined);
    this.process.on('message', (report: AddressReport) => {
      if (report.kind === 'open') this.opened.get(report.at)?.(report.port);
      else this.readyAdminPorts.set(report.at, report.adminPorts);
    });
  }

  async open(): Promise<OpenAddress> {
    const at = this.count++;
    const opened = new Promise<number>((resolve) => this.opened.set(at, resolve));
    this.send({ kind: 'open', at });
    return {
      port: await Promise.race([opened, this.ended]),
      add: (replica) => this.send({ kind: 'add', at, replica }),
      remove: (replica) => this.send({ kind: 'remove', at, replica }),
      isReady: (adminPort) => this.readyAdminPorts.get(at)?.includes(adminPort) ?? false,
    };
  }

  close(): void {
    this.process.kill('SIGKILL');
  }

  private send(request: AddressRequest): void {
    this.process.send(request);
  }
}
