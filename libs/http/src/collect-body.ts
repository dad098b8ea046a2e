import type { IncomingMessage } from 'node:http';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import { Problem } from '@plinth/kernel/problem';
import { SMALL_BYTES_MAX, type ByteReservation } from '@plinth/runtime/process/byte-budget';

/** The largest JSON body, also of batches. */
export const JSON_BODY_BYTES_MAX = 1024 * 1024;

const FIRST_BYTES = 4 * 1024;
const NO_BYTES = Buffer.alloc(0);

interface CollectedBody {
  bytesMax: number;
  /** Where the bytes are counted; without one they are not. */
  reservation: ByteReservation | undefined;
  /** How long the client may take to send it. */
  millisecondsMax?: number;
}

/** A body that has arrived completely and that nobody has begun to read; undefined where more of it is to come. */
export function arrivedBody(request: IncomingMessage): Buffer | undefined {
  if (!request.complete || request.destroyed) return undefined;
  return (request.read() as Buffer | null) ?? NO_BYTES;
}

/**
 * Reads a body into one buffer, which grows with what arrives.
 * @throws Problem `too-large` for too many bytes, `share-used-up` or `overloaded` where the process holds too many bodies,
 * `timed-out` for a slow one, `malformed` for one that breaks off.
 */
export async function collectBody(request: IncomingMessage, options: CollectedBody): Promise<Buffer> {
  const arrived = arrivedBody(request);
  if (!arrived) return collectArriving(request, options);
  if (arrived.length > options.bytesMax) throw bodyTooLarge(options.bytesMax);
  if (arrived.length > 0) reserve(options.reservation, arrived.length);
  return arrived;
}

function collectArriving(
  request: IncomingMessage,
  { bytesMax, reservation, millisecondsMax }: CollectedBody,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let buffer: Buffer = NO_BYTES;
    let size = 0;
    let isStopped = false;
    let isEnded = false;
    let isWaiting = false;
    const stop = (): void => {
      isStopped = true;
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError);
    };
    const fail = (problem: Problem): void => {
      stop();
      buffer = NO_BYTES;
      reservation?.release();
      // What is left of it is discarded.
      request.resume();
      reject(problem);
    };
    const finish = (): void => {
      stop();
      resolve(buffer.subarray(0, size));
    };
    // The last piece may be waiting for its turn.
    const onEnd = (): void => {
      isEnded = true;
      if (!isWaiting) finish();
    };
    const onError = (error?: Error): void => {
      if (!isEnded) fail(incomplete(error));
    };
    const makeRoom = (bytes: number): void => {
      if (bytes <= buffer.length) return;
      const length = Math.min(Math.max(bytes, buffer.length * 2, FIRST_BYTES), bytesMax);
      reserve(reservation, length - buffer.length);
      const larger = Buffer.allocUnsafeSlow(length);
      buffer.copy(larger, 0, 0, size);
      buffer = larger;
    };
    const add = (chunk: Buffer): void => {
      if (isStopped) return;
      if (size + chunk.length > bytesMax) throw bodyTooLarge(bytesMax);
      makeRoom(size + chunk.length);
      size += chunk.copy(buffer, size);
    };
    const onData = (chunk: Buffer): void => {
      if (reservation && size > SMALL_BYTES_MAX) {
        // Nothing more is read until it is the turn of its owner again.
        request.pause();
        isWaiting = true;
        reservation.inTurn(() => add(chunk), size).then(goOn, fail);
        return;
      }
      try {
        add(chunk);
      } catch (error) {
        fail(error as Problem);
      }
    };
    const goOn = (): void => {
      isWaiting = false;
      if (isStopped) return;
      if (isEnded) finish();
      else request.resume();
    };
    const timer =
      millisecondsMax === undefined ? undefined : setTimeout(() => fail(bodyTooSlow()), millisecondsMax);
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError);
  });
}

function reserve(reservation: ByteReservation | undefined, bytes: number): void {
  const refusal = reservation?.grow(bytes);
  if (refusal) throw shareUsedUp(refusal, 'large requests');
}

/** Refuses a body that is too large by what the client says. @throws Problem `too-large`. */
export function requireFittingLength({ headers }: IncomingMessage, bytesMax: number): void {
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
}

export const bodyTooLarge = (bytesMax: number): Problem =>
  new Problem('too-large', `The body is larger than ${bytesMax} bytes.`);

export const bodyTooSlow = (): Problem =>
  new Problem('timed-out', 'The body of the request did not arrive in time.');

const incomplete = (cause?: unknown): Problem =>
  new Problem('malformed', 'The body of the request is incomplete.', { cause });
