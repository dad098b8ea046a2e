import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../request-context';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { quotasOf, WINDOW_SECONDS, type RateLimits, type Subject } from './policies';
import type { Decision, RateLimiter } from './rate-limiter';

/** Counts a request and adds headers that say how many are left. */
export async function limitRequest(
  context: RequestContext,
  subject: Subject,
  rateClass: string,
  { limiter, rateLimits }: { limiter: RateLimiter; rateLimits: RateLimits },
): Promise<Decision> {
  const quotas = quotasOf(subject, rateClass, rateLimits);
  const decision = await limiter.consume(quotas);
  const policies = quotas.map(({ scope, limit }) => `"${scope}";q=${limit};w=${WINDOW_SECONDS}`);
  const { scope, remaining, resetSeconds } = decision;
  context.addHeaders([
    'RateLimit-Policy',
    policies.join(', '),
    'RateLimit',
    `"${scope}";r=${remaining};t=${resetSeconds}`,
  ]);
  return decision;
}

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
  return hops.at(-trustedProxies) ?? hops[0] ?? nearest;
}
