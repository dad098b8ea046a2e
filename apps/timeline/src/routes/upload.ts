import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { timelineProblems } from '@plinth/contracts/timeline/problems';
import { invalid, Problem } from '@plinth/kernel/problem';

/** Room for boundaries, part headers and parts that nobody asked for. */
const ENVELOPE_BYTES_MAX = 64 * 1024;
const PARTS_MAX = 20;

interface UploadedFile {
  /** As the client wrote it; not to be trusted. */
  name: string;
  content: Readable;
}

/**
 * Hands the part `file` of a multipart body to `take` as a stream, and answers what that answers.
 * When anything goes wrong, the stream fails, so that `take` keeps nothing of it.
 * @throws Problem `blob-too-large`, `invalid` without a file, `malformed` for a broken body.
 */
export async function receiveFile<Result>(
  request: IncomingMessage,
  bytesMax: number,
  take: (file: UploadedFile) => Promise<Result>,
): Promise<Result> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax + ENVELOPE_BYTES_MAX)
    throw tooLarge(bytesMax);
  const parser = openParser(request, bytesMax);
  const taking = new Promise<Promise<Result> | undefined>((resolve, reject) => {
    let stream: BusboyFileStream | undefined;
    let taken: Promise<Result> | undefined;
    const fail = (error: Error): void => {
      stream?.destroy(error);
      reject(error);
    };
    parser.on('file', (part: string, content: BusboyFileStream, name: string) => {
      if (part !== 'file' || stream) return void content.resume();
      stream = content;
      content.on('limit', () => content.destroy(tooLarge(bytesMax)));
      taken = take({ name: name ?? '', content });
      // What is refused is refused at once, without waiting for the rest of it.
      taken.catch(reject);
    });
    parser.once('finish', () => resolve(taken));
    parser.once('error', (error: unknown) => fail(broken(error)));
    request.once('close', () => {
      if (!request.complete) fail(broken(new Error('The client went away.')));
    });
  });
  request.pipe(parser);
  try {
    const taken = await taking;
    if (!taken) throw invalid({ file: 'NotEmpty' }, 'Send the file as the part named "file".');
    return await taken;
  } finally {
    request.unpipe(parser);
    request.resume();
  }
}

function openParser(request: IncomingMessage, bytesMax: number): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { 'content-type': request.headers['content-type'] ?? '' },
      limits: {
        files: PARTS_MAX,
        fields: PARTS_MAX,
        parts: PARTS_MAX,
        fieldSize: ENVELOPE_BYTES_MAX,
        fileSize: bytesMax,
      },
    });
  } catch (error) {
    throw broken(error);
  }
}

const broken = (cause: unknown): Problem =>
  new Problem('malformed', 'The body is not a complete multipart form.', { cause });

const tooLarge = (bytesMax: number): Problem =>
  timelineProblems['blob-too-large'](`A file to attach may have ${bytesMax} bytes at most.`);

/** The first bytes of a stream, and the whole stream again. */
export async function peek(content: Readable, length: number): Promise<{ head: Buffer; whole: Readable }> {
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
  async function* again() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { head, whole: Readable.from(again(), { objectMode: false }) };
}
