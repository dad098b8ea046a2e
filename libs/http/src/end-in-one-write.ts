import type { ServerResponse } from 'node:http';

/** A longer body is not worth its copy. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/**
 * Ends a response with its whole body: with a short one in one write to the socket, since Node joins head and body where
 * both are text. Latin-1 keeps every byte as it is. The head has to have the length of the body.
 */
export function endInOneWrite(response: ServerResponse, body: Buffer | string): void {
  if (typeof body === 'string' || body.length > ONE_WRITE_BYTES_MAX) response.end(body);
  else response.end(body.toString('latin1'), 'latin1');
}
