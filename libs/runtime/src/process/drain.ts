import type { RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTime } from './in-time';

const REQUESTS_MILLISECONDS_MAX = 25_000;

/** How much sooner than the server a client lets go of a connection, for what is on its way. */
const KEEP_ALIVE_MARGIN_MILLISECONDS = 1_000;

type DrainConfig = Readonly<{ NODE_ENV: string; DRAIN_SECONDS?: number | undefined }>;

/** How long a process goes on after the signal to stop, before it takes no more connections. */
export const drainSeconds = (config: DrainConfig): number =>
  config.DRAIN_SECONDS ?? (config.NODE_ENV === 'production' ? 5 : 0);

/**
 * Stops an HTTP server without losing a request. At first the server goes on, while every response ends its connection
 * and clients have time to go elsewhere; then it takes no more connections and waits for the requests in flight. No
 * client is cut off in between, because no connection is closed that its client still means to use: a client that sends
 * nothing in the meantime cannot be told, so every response before says for how long a connection may be unused.
 */
export class Drain {
  private readonly milliseconds: number;
  /** Connections whose clients were told before that they may use them again. */
  private readonly kept: Socket[] = [];
  /**
   * Places that responses take in turns. A set would do the same, but one that is always added to and removed from is
   * copied again and again, and each copy of V8 refers to the next: once one of them is old, every later one is kept
   * with all responses that it held, until the old generation is collected.
   */
  private readonly unfinished: (ServerResponse | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  private hasBegun = false;

  constructor(config: DrainConfig) {
    this.milliseconds = drainSeconds(config) * 1000;
  }

  /**
   * Options of a server that keeps an unused connection for as long as this, and tells clients less than the drain takes. A
   * process that stops at once has nothing to promise.
   */
  keepAlive(milliseconds: number): Pick<ServerOptions, 'keepAliveTimeout' | 'keepAliveTimeoutBuffer'> {
    const margin = KEEP_ALIVE_MARGIN_MILLISECONDS;
    const promised = this.milliseconds === 0 ? milliseconds : Math.max(this.milliseconds - margin, margin);
    const keepAliveTimeout = Math.min(promised, milliseconds);
    return { keepAliveTimeout, keepAliveTimeoutBuffer: milliseconds + margin - keepAliveTimeout };
  }

  /** Wraps the listener of the server, to know the responses that are not complete. */
  watch(listener: RequestListener): RequestListener {
    return (request, response) => {
      const place = this.freePlaces.pop() ?? this.unfinished.length;
      this.unfinished[place] = response;
      response.once('close', () => {
        this.unfinished[place] = undefined;
        this.freePlaces.push(place);
        if (this.hasBegun && response.shouldKeepAlive && response.writableFinished)
          this.kept.push(request.socket);
      });
      if (this.hasBegun) response.shouldKeepAlive = false;
      listener(request, response);
    };
  }

  /** From now on every response whose head is not sent yet ends its connection. */
  begin(server: Server): void {
    this.hasBegun = true;
    for (const response of this.unfinished)
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    // Of the others, whose clients expect to use their connections again; 0 would be for ever.
    server.keepAliveTimeout = Math.max(this.milliseconds, 1);
    server.keepAliveTimeoutBuffer = 0;
  }

  /** Takes no more connections, and resolves when the last request has its response. */
  async finish(server: Server): Promise<void> {
    await inTime(REQUESTS_MILLISECONDS_MAX, this.closeUnused(server), () => {
      server.close();
      server.closeAllConnections();
    });
  }

  private async closeUnused(server: Server): Promise<void> {
    // Those that end meanwhile come after them.
    for (const socket of this.kept) await closing(socket);
    // A process that had to wait for the processor has not read what came in that time, and closing would lose it.
    await nextTurn();
    await nextTurn();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

const closing = (socket: Socket): Promise<void> | undefined =>
  socket.closed ? undefined : new Promise((resolve) => socket.once('close', () => resolve()));
