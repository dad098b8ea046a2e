import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { DISCARDED_BYTES_MAX, endEarlyResponse } from './end-early-response';

const PIECE = Buffer.alloc(1024 * 1024, 'a');
const PIECES = 100;

describe('a response that ends while its client is still sending', () => {
  afterEach(() => void jest.useRealTimers());

  it('discards what is sent up to a number of bytes, however long it goes on', async () => {
    let received = 0;
    const refuse = (request: IncomingMessage, response: ServerResponse): void => {
      request.on('data', (piece: Buffer) => void (received += piece.length));
      response.writeHead(503, { 'content-length': 2 });
      endEarlyResponse(request, response, 'no');
    };
    const server = createServer(refuse).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const closed = new Promise((resolve) => client.once('close', resolve).on('error', () => undefined));

    client.resume().write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * DISCARDED_BYTES_MAX}\r\n\r\n`);
    for (let sent = 0; sent < 2 * DISCARDED_BYTES_MAX && !client.destroyed; sent += PIECE.length)
      await new Promise((resolve) => client.write(PIECE, resolve));
    await closed;
    server.close();

    expect(received).toBeGreaterThan(DISCARDED_BYTES_MAX - PIECE.length);
    // And what the sockets had when it ended.
    expect(received).toBeLessThan(1.5 * DISCARDED_BYTES_MAX);
  });

  it('takes no client for a silent one whose pieces came while the process stood still', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const server = createServer((request, response) => {
      response.writeHead(503, { 'content-length': 2 });
      endEarlyResponse(request, response, 'no');
      begun.resolve(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n');
    const response = await begun.promise;

    client.write('a');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    // Timers come after the rest of this turn of the event loop, and before what has arrived.
    for (let turn = 0; turn < 2; turn++) await setImmediate();

    expect(response.writableEnded).toBe(false);
    client.destroy();
    server.close();
  });

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

  it('takes no client for a silent one whose pieces wait for their turn', async () => {
    jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const end = jest.fn();
    const requests = Array.from({ length: 20 }, () => {
      const request = new PassThrough();
      endEarlyResponse(request as never, { write: () => true, end } as never, 'no');
      request.write(PIECE.subarray(0, 1_024));
      return request;
    });
    // The first one has its turn, and all others wait for theirs.
    await new Promise((resolve) => process.nextTick(resolve));

    for (let seconds = 1; seconds < 30; seconds++) {
      jest.advanceTimersByTime(1_000);
      requests.forEach((request) => request.write(PIECE.subarray(0, 1_024)));
    }
    expect(end.mock.calls.length).toBeLessThan(2);
    jest.advanceTimersByTime(1_000);
    expect(end).toHaveBeenCalledTimes(requests.length);
  });
});
