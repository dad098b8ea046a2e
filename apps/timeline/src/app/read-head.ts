import { Readable } from 'node:stream';

/** The first bytes of a stream, and the whole stream again. */
export async function readHead(
  content: Readable,
  length: number,
): Promise<{ head: Buffer; whole: Readable }> {
  const chunks = (content as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  while (size < length) {
    const { done, value } = await chunks.next();
    if (done) break;
    first.push(value);
    size += value.length;
  }
  const head = Buffer.concat(first, size);
  async function* headAndRest() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { head, whole: Readable.from(headAndRest(), { objectMode: false }) };
}
