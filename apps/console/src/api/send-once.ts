/** The oldest of more writes than anybody repeats are forgotten. */
const UNANSWERED_MAX = 50;

/**
 * `fetch`, but a write that got no response, and that a person therefore sends again, has the idempotency key that it had:
 * the platform may have done it, and does it once.
 */
export function sendOnce(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  /** The keys of writes without a response, by what they ask for. */
  const unanswered = new Map<string, string>();
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    const made = headers.get('idempotency-key');
    if (made === null) return fetch(input, init);
    const write = JSON.stringify([init.method, input, headers.get('if-match'), init.body]);
    const key = unanswered.get(write) ?? made;
    headers.set('idempotency-key', key);
    unanswered.set(write, key);
    if (unanswered.size > UNANSWERED_MAX) unanswered.delete(unanswered.keys().next().value!);
    const response = await complete(await fetch(input, { ...init, headers }));
    if (isFinal(response)) unanswered.delete(write);
    return response;
  };
}

/** What stops in the middle is no response either. */
async function complete(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const bytes = await response.arrayBuffer();
  // Browsers give also a response without content a body, but make none that has one.
  return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers });
}

/** After these nobody knows yet whether it is done, or it goes on: 409 with `Retry-After` is for a first request that runs. */
const isFinal = ({ status, headers }: Response): boolean =>
  ![502, 503, 504].includes(status) && !(status === 409 && headers.has('retry-after'));
