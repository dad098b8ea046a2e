import { Transform, type TransformCallback } from 'node:stream';
import { SMALL_BYTES_MAX, type ByteReservation } from '@plinth/runtime/process/byte-budget';
import {
  arrivedBody,
  bodyTooLarge,
  bodyTooSlow,
  collectBody,
  JSON_BODY_BYTES_MAX,
  requireFittingLength,
} from '@plinth/http/collect-body';
import type { RequestContext } from '../request-context';

const NO_BYTES = Buffer.alloc(0);

export const hasBody = ({ request: { headers, method } }: RequestContext): boolean => {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
};

/** A body limited in size and time: in one piece where all of it is there, as most small ones are by now, else streamed. */
export function boundedBody(
  context: RequestContext,
  reservation: ByteReservation,
  milliseconds: number,
): Buffer | Transform {
  requireFittingLength(context.request, JSON_BODY_BYTES_MAX);
  sendContinue(context);
  return arrivedBody(context.request) ?? streamedBody(context, reservation, milliseconds);
}

/** Its reader may destroy it without closing the connection to the client, who still gets a response. */
function streamedBody(
  context: RequestContext,
  reservation: ByteReservation,
  milliseconds: number,
): Transform {
  const body = new BoundedBody(reservation);
  const timer = setTimeout(() => body.destroy(bodyTooSlow()), milliseconds);
  body.once('close', () => clearTimeout(timer));
  body.once('end', () => clearTimeout(timer));
  body.on('error', () => undefined);
  context.request.pipe(body);
  return body;
}

/**
 * A small body all of which is here, also where there is none. Undefined for every other one, and where there is no room for
 * it: then nobody has begun to read it.
 */
export function arrivedSmallBody(context: RequestContext, reservation: ByteReservation): Buffer | undefined {
  if (!hasBody(context)) return NO_BYTES;
  const { request, response } = context;
  const { complete, readableLength } = request;
  if (!complete || request.destroyed || readableLength > SMALL_BYTES_MAX) return undefined;
  // Of unknown length it has a turn of its own, which it waits for.
  if (request.headers['content-length'] === undefined) return undefined;
  if (readableLength > 0 && reservation.grow(readableLength)) return undefined;
  reservation.releaseAfter(response);
  return arrivedBody(request);
}

/** The whole body in memory: only an idempotency key needs that (ADR 0007). */
export function wholeBody(
  context: RequestContext,
  reservation: ByteReservation,
  milliseconds: number,
): Promise<Buffer> {
  if (!hasBody(context)) return Promise.resolve(NO_BYTES);
  requireFittingLength(context.request, JSON_BODY_BYTES_MAX);
  sendContinue(context);
  return collectBody(context.request, {
    bytesMax: JSON_BODY_BYTES_MAX,
    reservation,
    millisecondsMax: milliseconds,
  });
}

/** Responds with 100 to a client that waits with its body for that. */
export function sendContinue({ request, response }: RequestContext): void {
  if (request.headers.expect !== undefined) response.writeContinue();
}

/** Its pieces are passed on at once while it is small, and then in turns. */
class BoundedBody extends Transform {
  private size = 0;

  constructor(private readonly reservation: ByteReservation) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    if (this.size > JSON_BODY_BYTES_MAX) done(bodyTooLarge(JSON_BODY_BYTES_MAX));
    else if (this.size <= SMALL_BYTES_MAX) done(null, chunk);
    else this.reservation.inTurn(() => done(null, chunk), this.size).catch(done);
  }
}
