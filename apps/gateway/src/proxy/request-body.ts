import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { Problem } from '@plinth/kernel/problem';
import type { Exchange } from '../exchange';

/** Interface, "Limits" and silences, row 10. */
const JSON_BODY_BYTES_MAX = 1024 * 1024;

export const hasBody = ({ request: { headers, method } }: Exchange): boolean => {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
};

/**
 * A body that flows on as it comes, up to a size and within a time.
 * Its reader may destroy it: that does not end the connection to the client, who still gets an answer.
 */
export function boundedBody(exchange: Exchange, milliseconds: number): Transform {
  requireFitting(exchange);
  const body = new BoundedBody();
  const timer = setTimeout(() => body.destroy(tooSlow()), milliseconds);
  body.once('close', () => clearTimeout(timer));
  body.once('end', () => clearTimeout(timer));
  body.on('error', () => undefined);
  invite(exchange);
  exchange.request.pipe(body);
  return body;
}

/** The whole body in memory: only an idempotency key asks for that (ADR 0007). */
export function wholeBody(exchange: Exchange, milliseconds: number): Promise<Buffer> {
  if (!hasBody(exchange)) return Promise.resolve(Buffer.alloc(0));
  requireFitting(exchange);
  invite(exchange);
  return collect(exchange.request, milliseconds);
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

/** A client that asked whether to send its body is told to. */
export function invite({ request, response }: Exchange): void {
  if (request.headers.expect !== undefined) response.writeContinue();
}

function requireFitting({ request }: Exchange): void {
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
