import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { receiveFile, type UploadedFile } from './receive-file';

const PIECE = 'x'.repeat(16 * 1024);

/** The request of an upload that has arrived in so many pieces. */
function uploadOf(pieces: number): IncomingMessage {
  const request = new PassThrough({ highWaterMark: 64 * 1024 * 1024 });
  request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
  for (let count = 0; count < pieces; count++) request.write(PIECE);
  request.end('\r\n--b--\r\n');
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return Object.assign(request, { headers, complete: true }) as unknown as IncomingMessage;
}

describe('uploads of several tenants to one process', () => {
  it('take turns, so that a small one ends while many large ones are at their beginning', async () => {
    const limit = { bytesMax: Infinity, tooLarge: () => new Error() as never, turns: new EventLoopTurns() };
    const received = { greedy: 0, modest: 0 };
    const receive = (tenantId: keyof typeof received, pieces: number) =>
      receiveFile(uploadOf(pieces), { tenantId, userId: 'ada' }, limit, async ({ content }: UploadedFile) => {
        for await (const chunk of content) received[tenantId] += (chunk as Buffer).length;
      });
    const UPLOADS = 20;
    const greedy = Array.from({ length: UPLOADS }, () => receive('greedy', 10));

    await receive('modest', 1);

    expect(received.modest).toBe(PIECE.length);
    expect(received.greedy).toBeLessThan(UPLOADS * PIECE.length);
    await Promise.all(greedy);
    expect(received.greedy).toBe(UPLOADS * 10 * PIECE.length);
  });
});
