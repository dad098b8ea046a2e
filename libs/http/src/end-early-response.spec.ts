import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { endEarlyResponse } from './end-early-response';

const PIECES = 100;

describe('a response that ends while its client is still sending', () => {
  it('lets everybody else be served between the pieces that are discarded, and ends with the last one', async () => {
    let discarded = 0;
    const ended = Array.from({ length: 20 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const request = Readable.from(Array.from({ length: PIECES }, () => Buffer.alloc(1_024)));
      request.on('data', () => discarded++).pause();
      const response = { write: () => true, end: resolve };
      endEarlyResponse(request as IncomingMessage, response as unknown as ServerResponse, 'no');
      return promise;
    });

    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(discarded).toBeLessThan(100);

    await Promise.all(ended);
    expect(discarded).toBe(20 * PIECES);
  });
});
