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
