import { Transform, type TransformCallback } from 'node:stream';
import { readBytes } from '@plinth/conventions/body';
import { Problem } from '@plinth/kernel/problem';
import type { Exchange } from '../exchange';

/** Interface, "Limits" and silences, row 10. */
const JSON_BODY_BYTES_MAX = 1024 * 1024;

export const hasBody = ({ request: { headers, method } }: Exchange): boolean => {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
};

/** A body that flows on as it comes, up to a size and within a time. */
export function boundedBody(exchange: Exchange, milliseconds: number): Transform {
  requireFitting(exchange);
  const body = new BoundedBody();
  const timer = setTimeout(() => body.destroy(tooSlow()), milliseconds);
  body.once('close', () => clearTimeout(timer));
  body.once('end', () => clearTimeout(timer));
  invite(exchange);
  exchange.request.pipe(body);
  return body;
}

/** The whole body in memory: only an idempotency key asks for that (ADR 0007). */
export async function wholeBody(exchange: Exchange, milliseconds: number): Promise<Buffer> {
  if (!hasBody(exchange)) return Buffer.alloc(0);
  requireFitting(exchange);
  invite(exchange);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), milliseconds);
  });
  return Promise.race([readBytes(exchange.request, JSON_BODY_BYTES_MAX), late]).finally(() =>
    clearTimeout(timer),
  );
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
