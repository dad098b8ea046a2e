import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { ProblemResponse } from './problem-details';

const TRAILER = 'x-plinth-problem';

/** The gateway reads 16 KiB of trailers, as of headers. */
const TRAILER_LENGTH_MAX = 12 * 1024;

/** Before the head of a response is sent: a problem may come behind it, where the client reads trailers. */
export function announceLateProblem(response: ServerResponse): void {
  if (response.req.headers.te === 'trailers') response.setHeader('trailer', TRAILER);
}

/**
 * Ends a response whose head says something else. The problem is in a trailer where that was announced; else, and where it
 * is too long, the connection is closed, so that nobody takes what was sent for the whole.
 */
export function endWithLateProblem(response: ServerResponse, problem: ProblemResponse): void {
  const encoded = Buffer.from(JSON.stringify(problem)).toString('base64url');
  if (response.getHeader('trailer') !== TRAILER || encoded.length > TRAILER_LENGTH_MAX) {
    response.destroy();
    return;
  }
  response.addTrailers({ [TRAILER]: encoded });
  response.end();
}

/** Whether a problem may come behind the head of a response, so that its body is whole only with JSON at its end. */
export const announcesLateProblem = (headers: IncomingHttpHeaders): boolean => headers.trailer === TRAILER;

const LateProblem = z.object({
  status: z.int().min(400).max(599),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/** Whether a problem came behind the head of a response, be it one that can be read or not. */
export const hasLateProblem = (trailers: IncomingHttpHeaders): boolean => trailers[TRAILER] !== undefined;

/** The problem that came behind the head of a response, as far as it can be read. */
export function lateProblemIn({ [TRAILER]: encoded }: IncomingHttpHeaders): ProblemResponse | undefined {
  if (typeof encoded !== 'string') return undefined;
  try {
    return LateProblem.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
