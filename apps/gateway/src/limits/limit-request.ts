import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../request-context';
import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Policy } from './policies';
import type { Decision } from './rate-limiter';

/** Headers that say how many requests are left. */
export const limitHeaders = (
  { description }: Policy,
  { scope, remaining, resetSeconds }: Decision,
): HeaderList => [
  'RateLimit-Policy',
  description,
  'RateLimit',
  `"${scope}";r=${remaining};t=${resetSeconds}`,
];

export const tooManyRequests = ({ scope, resetSeconds }: Decision) =>
  platformProblems['too-many-requests'](`The request limit of this ${scope} is reached.`, {
    retryAfterSeconds: resetSeconds,
  });

/** The address of the client, as the outermost trusted proxy saw it. */
export function addressOf(request: IncomingMessage, trustedProxies: number): string {
  const nearest = request.socket.remoteAddress ?? 'unknown';
  if (trustedProxies === 0) return nearest;
  const hops = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  return withoutPort(hops.at(-trustedProxies) ?? hops[0] ?? nearest);
}

/** Some proxies name the port of the client too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
