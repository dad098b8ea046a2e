import { Transform } from 'node:stream';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { EventLoopTurns } from './fair-places';

/**
 * Passes a stream on, piece by piece in the turns of its owner. A stream by itself passes on whatever its socket or file
 * has, which may be megabytes of each of many streams before anybody else in the process is served.
 */
export const inTurns = (owner: ShareOwner, turns: EventLoopTurns): Transform =>
  new Transform({
    // One piece waits at a time: there may be a thousand streams.
    highWaterMark: 1,
    transform(chunk: Buffer, _encoding, done) {
      turns.take(owner, () => this.push(chunk)).then(() => done(), done);
    },
  });

/** The bytes of a text that comes in pieces, each made and encoded in a turn of its owner. */
export const encodeInTurns = (
  pieces: Iterable<string>,
  owner: ShareOwner,
  turns: EventLoopTurns,
): Promise<Buffer[]> => turns.takeEach(owner, encodingSteps(pieces));

function* encodingSteps(pieces: Iterable<string>): Generator<void, Buffer[]> {
  const encoded: Buffer[] = [];
  for (const piece of pieces) {
    encoded.push(Buffer.from(piece));
    yield;
  }
  return encoded;
}
