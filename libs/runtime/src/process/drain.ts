import type { RequestListener, Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const REQUESTS_MILLISECONDS_MAX = 25_000;

/** How long a process goes on after the signal to stop, before it takes no more connections. */
export const drainSeconds = (config: { NODE_ENV: string; DRAIN_SECONDS?: number | undefined }): number =>
  config.DRAIN_SECONDS ?? (config.NODE_ENV === 'production' ? 5 : 0);

/**
 * Stops an HTTP server without losing a request. At first the server goes on, while every response ends its connection
 * and clients have time to go elsewhere; then it takes no more connections and waits for the requests in flight. No
 * client is cut off in between, because no connection is closed that its client still means to use.
 */
export class Drain {
  /**
   * Places that responses take in turns. A set would do the same, but one that is always added to and removed from is
   * copied again and again, and each copy of V8 refers to the next: once one of them is old, every later one is kept
   * with all responses that it held, until the old generation is collected.
   */
  private readonly unfinished: (ServerResponse | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  private hasBegun = false;
  private onFinished = (): void => undefined;

  /** Wraps the listener of the server, to know the responses that are not complete. */
  watch(listener: RequestListener): RequestListener {
    return (request, response) => {
      const place = this.freePlaces.pop() ?? this.unfinished.length;
      this.unfinished[place] = response;
      response.once('close', () => {
        this.unfinished[place] = undefined;
        this.freePlaces.push(place);
        this.onFinished();
      });
      if (this.hasBegun) response.shouldKeepAlive = false;
      listener(request, response);
    };
  }

  /** From now on every response whose head is not sent yet ends its connection. */
  begin(): void {
    this.hasBegun = true;
    for (const response of this.unfinished) if (response) response.shouldKeepAlive = false;
  }

  /** Takes no more connections, and resolves when the last request has its response. */
  async finish(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A connection whose response had begun before is idle now, and its client would not close it.
    this.onFinished = () => setImmediate(() => server.closeIdleConnections());
    server.closeIdleConnections();
    const late = pause(REQUESTS_MILLISECONDS_MAX, undefined, { ref: false }).then(() =>
      server.closeAllConnections(),
    );
    await Promise.race([closed, late]);
  }
}
