import type { IncomingMessage, ServerResponse } from 'node:http';
import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Problem } from '@plinth/kernel/problem';
import { addressOf } from './limit-request';
import { networkOf } from './policies';

/**
 * Limits what one address does at the same time behind proxies. The connections are those of the proxies there, which all
 * clients share, so requests are counted instead of them.
 */
export class OpenRequests {
  private readonly countByAddress = new Map<string, number>();

  constructor(
    private readonly trustedProxies: number,
    private readonly max: number,
  ) {}

  /** Counts a request until its response is closed; returns a problem where its address has too many. */
  enter(request: IncomingMessage, response: ServerResponse): Problem | undefined {
    if (this.trustedProxies === 0) return undefined;
    const address = networkOf(addressOf(request, this.trustedProxies));
    const count = (this.countByAddress.get(address) ?? 0) + 1;
    this.countByAddress.set(address, count);
    response.once('close', () => this.leave(address));
    if (count <= this.max) return undefined;
    return platformProblems['too-many-requests']('This address has too many requests at the same time.', {
      retryAfterSeconds: 1,
    });
  }

  private leave(address: string): void {
    const left = this.countByAddress.get(address)! - 1;
    if (left === 0) this.countByAddress.delete(address);
    else this.countByAddress.set(address, left);
  }
}
