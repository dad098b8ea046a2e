/** The oldest of more writes than anybody repeats are forgotten. */
const UNANSWERED_MAX = 50;
/** Whoever sends the same later than this after it failed means it anew. */
const UNANSWERED_MILLISECONDS = 10 * 60_000;

interface Unanswered {
  key: string;
  /** The key that the call brought which sent it last: one that waits for somebody to sign in comes back with it. */
  made: string;
  /** What it changes. */
  area: string;
  /** Infinity while it is under way. */
  endedAt: number;
  /** Whether something else was written there since, which may have taken it back. */
  isOvertaken: boolean;
}

/**
 * `fetch`, but a write that got no response, and that a person therefore sends again, has the idempotency key that it had:
 * the platform may have done it, and does it once. That ends with another write to the same area, such as one that
 * takes it back: with its key of before, the write would get the stored response and change nothing. What may be done
 * twice, as a value that is set, always has a new key.
 */
export function sendOnce(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  /** By what they ask for. */
  const unanswered = new Map<string, Unanswered>();
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    const made = headers.get('idempotency-key');
    if (made === null) return fetch(input, init);
    const area = areaOf(input as string);
    const condition = headers.get('if-match') ?? headers.get('if-none-match');
    const write = JSON.stringify([init.method, input, condition, init.body]);
    for (const [other, sent] of unanswered)
      if (other !== write && (sent.area.startsWith(area) || area.startsWith(sent.area)))
        sent.isOvertaken = true;
    if (init.method !== 'POST' && condition === null) return fetch(input, init);
    const key = keyOf(unanswered.get(write), made);
    unanswered.delete(write);
    const sent: Unanswered = { key, made, area, endedAt: Infinity, isOvertaken: false };
    unanswered.set(write, sent);
    if (unanswered.size > UNANSWERED_MAX) unanswered.delete(unanswered.keys().next().value!);
    headers.set('idempotency-key', key);
    try {
      const response = await fetch(input, { ...init, headers });
      if (isStored(response)) {
        const forget = () => void (unanswered.get(write) === sent && unanswered.delete(write));
        // What stops in the middle is no response either.
        response
          .clone()
          .arrayBuffer()
          .then(forget, () => undefined);
      }
      return response;
    } finally {
      sent.endedAt = Date.now();
    }
  };
}

function keyOf(former: Unanswered | undefined, made: string): string {
  if (!former) return made;
  const isAgain = !former.isOvertaken && Date.now() - former.endedAt < UNANSWERED_MILLISECONDS;
  return isAgain || former.made === made ? former.key : made;
}

/** `/api/v1/templates/welcome` for all that belongs to this template, `/api/v1/templates` for a new one. */
const areaOf = (address: string): string => new URL(address).pathname.split('/', 5).join('/');

/** Statuses that the platform has under a key: the same request is refused again. */
export const STORED_ERRORS: readonly number[] = [400, 404, 409, 410, 422];

/**
 * Whether the platform has the response of this write under its key. After any other nobody knows: the gateway refuses by
 * 401 and 429 before it looks for the key, and 409 with `Retry-After` is for a first request that still runs.
 */
const isStored = ({ ok, status, headers }: Response): boolean =>
  ok || (STORED_ERRORS.includes(status) && !headers.has('retry-after'));
