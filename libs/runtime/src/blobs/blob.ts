import { createHash } from 'node:crypto';
import { PassThrough, Transform, type Readable } from 'node:stream';
import { Problem } from '@plinth/kernel/problem';
import type { StoredBlob } from './blob-store';

/** The steps of a key as names that mean nothing to a file system: whatever a key holds, it stays in the store. */
export const stepsOf = (key: string): string[] =>
  key
    .split('/')
    .map((step) => encodeURIComponent(step).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length)) || '%');

/** Passes a stream on and tells afterwards what went through. @param bytesMax a stream of more ends with a problem that does not pass */
export function measure(bytesMax = Infinity): {
  stream: Transform;
  bytesArrived: () => number;
  measured: () => StoredBlob;
} {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) return done(tooLarge(bytesMax));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return {
    stream,
    bytesArrived: () => sizeBytes,
    measured: () => ({ sizeBytes, sha256: hash.digest('hex') }),
  };
}

const tooLarge = (bytesMax: number): Problem =>
  new Problem('too-large', `The file is larger than the ${bytesMax} bytes that can be stored of one.`);

export const blobIsGone = (): Problem => new Problem('gone', 'The file is no longer there.');

/** What went wrong stays in `cause`: it may name hosts and folders. */
export const blobStoreIsDown = (cause: unknown): Problem =>
  new Problem('upstream', 'The blob store does not respond; try again.', {
    retryAfterSeconds: 5,
    cause,
  });

/** It responds, and does not let the platform do something: what that is is for operators, in `cause`. */
export const blobStoreRefuses = (cause: unknown): Problem =>
  new Problem('upstream', 'The blob store does not let the platform do this.', { cause });

/**
 * What is read of a file. Where it breaks off, it is the store that failed, and not any other server; and the store learns
 * that nobody reads on, also where nobody began.
 */
export function contentOf(stored: Readable): Readable {
  const content = new PassThrough();
  // It may break before anybody listens, who learns of it from the stream.
  content.on('error', () => undefined);
  stored.once('error', (error) => content.destroy(blobStoreIsDown(error)));
  content.once('close', () => stored.destroy());
  return stored.pipe(content);
}
