import type { IncomingMessage } from 'node:http';
import { Problem } from '@plinth/kernel/problem';

/** A body may begin with so many chunks of any size; no network cuts the largest JSON body into half of them. */
const TINY_CHUNKS_MAX = 4_096;
/** A body in more chunks than that has at least so many bytes in each, on average. */
const CHUNK_BYTES_MIN = 64;

const GATHERED_BYTES_MAX = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

/**
 * Joins the chunks of a body while they arrive. Node makes an object of each chunk and keeps as many as its buffer has
 * bytes, so that a few kilobytes of one-byte chunks cost tens of megabytes, and their parsing a processor. To be called
 * at once when a request has arrived.
 * @param refuse gets the problem of a body in far too many chunks, of which nothing more is read
 */
export function gatherChunks(request: IncomingMessage, refuse: (problem: Problem) => void): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const push = request.push.bind(request) as (chunk: Buffer | null) => boolean;
  let gathered = NO_BYTES;
  let size = 0;
  let chunks = 0;
  let bytes = 0;
  let isRefused = false;

  const pushGathered = (): void => {
    if (size === 0 || request.destroyed) return;
    push(gathered.subarray(0, size));
    gathered = gathered.subarray(size);
    size = 0;
  };
  const gather = (chunk: Buffer): void => {
    if (size + chunk.length > gathered.length) {
      pushGathered();
      gathered = Buffer.allocUnsafeSlow(GATHERED_BYTES_MAX);
    }
    if (size === 0) setImmediate(pushGathered);
    size += chunk.copy(gathered, size);
  };
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      pushGathered();
      return push(null);
    }
    chunks++;
    bytes += chunk.length;
    if (chunks > TINY_CHUNKS_MAX && bytes < chunks * CHUNK_BYTES_MIN) {
      if (!isRefused) refuse(new Problem('too-large', 'The body arrives in too many chunks.'));
      isRefused = true;
      return false;
    }
    if (chunk.length > GATHERED_BYTES_MAX / 2) {
      pushGathered();
      return push(chunk);
    }
    gather(chunk);
    return request.readableLength < request.readableHighWaterMark;
  };
}
