import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { endInOneWrite } from './end-in-one-write';

/** What a response with this body writes to its socket, piece by piece. */
async function writesOf(body: Buffer | string): Promise<Buffer[]> {
  const writes: Buffer[] = [];
  const socket = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk);
      done();
    },
  });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.assignSocket(socket as Socket);
  response.writeHead(200, { 'content-length': Buffer.byteLength(body) });
  const finished = new Promise((resolve) => response.once('finish', resolve));
  endInOneWrite(response, body);
  await finished;
  return writes.filter(({ length }) => length > 0);
}

const bodyIn = (writes: readonly Buffer[]): Buffer => {
  const all = Buffer.concat(writes);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
};

describe('the end of a response', () => {
  it.each([
    ['text', '{"name":"Zoë 😀"}'],
    ['bytes', Buffer.from('{"name":"Zoë 😀"}')],
    ['bytes that are no text', Buffer.from([0, 127, 128, 255])],
  ])('is one write with its head for a short body of %s', async (_kind, body) => {
    const writes = await writesOf(body);
    expect(writes).toHaveLength(1);
    expect(bodyIn(writes)).toEqual(Buffer.from(body));
  });

  it('does not copy a long body', async () => {
    const body = Buffer.alloc(100_000, 'é');
    expect((await writesOf(body)).at(-1)).toBe(body);
  });
});
