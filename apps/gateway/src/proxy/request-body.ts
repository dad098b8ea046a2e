import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { Problem } from '@plinth/kernel/problem';
import type { RequestContext } from '../request-context';

/** The largest JSON body, also of batches. */
const JSON_BODY_BYTES_MAX = 1024 * 1024;

export const hasBody = ({ request: { headers, method } }: RequestContext): boolean => {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
};

/**
 * A streamed body, limited in size and time.
 * Its reader may destroy it without closing the connection to the client, who still gets a response.
 */
export function boundedBody(context: RequestContext, milliseconds: number): Transform {
  requireFittingLength(context);
  const body = new BoundedBody();
  const timer = setTimeout(() => body.destroy(tooSlow()), milliseconds);
  body.once('close', () => clearTimeout(timer));
  body.once('end', () => clearTimeout(timer));
  body.on('error', () => undefined);
  sendContinue(context);
  context.request.pipe(body);
  return body;
}

/** The whole body in memory: only an idempotency key needs that (ADR 0007). */
export function wholeBody(context: RequestContext, milliseconds: number): Promise<Buffer> {
  if (!hasBody(context)) return Promise.resolve(Buffer.alloc(0));
  requireFittingLength(context);
  sendContinue(context);
  return collect(context.request, milliseconds);
}

function collect(request: IncomingMessage, milliseconds: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > JSON_BODY_BYTES_MAX) settle(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const timer = setTimeout(() => settle(() => reject(tooSlow())), milliseconds);
    request.on('data', onData);
    request.once('end', () => settle(() => resolve(Buffer.concat(chunks, size))));
    request.once('close', () =>
      settle(() => reject(new Problem('malformed', 'The body of the request is incomplete.'))),
    );
  });
}

/** Responds with 100 to a client that waits with its body for that. */
export function sendContinue({ request, response }: RequestContext): void {
  if (request.headers.expect !== undefined) response.writeContinue();
}

function requireFittingLength({ request }: RequestContext): void {
  if (Number(request.headers['content-length'] ?? 0) > JSON_BODY_BYTES_MAX) throw tooLarge();
}

class BoundedBody extends Transform {
  private size = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    if (this.size > JSON_BODY_BYTES_MAX) done(tooLarge());
    else done(null, chunk);
  }
}

const tooLarge = () => new Problem('too-large', `The body is larger than ${JSON_BODY_BYTES_MAX} bytes.`);
const tooSlow = () => new Problem('timed-out', 'The body of the request did not arrive in time.');
