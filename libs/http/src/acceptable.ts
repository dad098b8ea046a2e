import type { Endpoint } from '@plinth/contracts/endpoint';
import { Problem } from '@plinth/kernel/problem';
import type { Request } from 'express';

const ACCEPTS_ALL = '*/*';

/**
 * Refuses a client that accepts none of the media types of an endpoint: JSON, unless its contract says otherwise. A
 * success without a body has none that could be refused.
 * @throws Problem `not-acceptable`
 */
export function requireAcceptable(
  { success, alternatives = [] }: Pick<Endpoint, 'success' | 'alternatives'>,
  request: Request,
): void {
  const { accept = ACCEPTS_ALL } = request.headers;
  if (accept === ACCEPTS_ALL) return;
  const types = [success, ...alternatives].flatMap(({ body, file, events }) => [
    ...(body ? ['application/json', 'application/problem+json'] : []),
    ...(file ? ['application/octet-stream', ...file] : []),
    ...(events ? ['text/event-stream'] : []),
  ]);
  if (types.length > 0 && !request.accepts(types))
    throw new Problem('not-acceptable', `Available media types: ${[...new Set(types)].join(', ')}.`);
}
