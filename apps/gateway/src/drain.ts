import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from './compose';

const REQUESTS_MILLISECONDS_MAX = 25_000;

/**
 * Stops taking requests without losing one: first the process says that it is not ready, while every answer ends its
 * connection; then it takes no more connections, and waits for the requests in flight.
 */
export async function drain(
  { server, drain: beginDraining, endEventStreams }: Pick<Gateway, 'server' | 'drain' | 'endEventStreams'>,
  config: { NODE_ENV: string; DRAIN_SECONDS?: number | undefined },
): Promise<void> {
  beginDraining();
  await pause((config.DRAIN_SECONDS ?? (config.NODE_ENV === 'production' ? 5 : 0)) * 1000);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  endEventStreams();
  const late = pause(REQUESTS_MILLISECONDS_MAX, undefined, { ref: false }).then(() =>
    server.closeAllConnections(),
  );
  await Promise.race([closed, late]);
}
