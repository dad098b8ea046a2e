import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { invalid, Problem } from '@plinth/kernel/problem';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { inTurns } from '@plinth/runtime/process/in-turns';
import { cleanFileName } from './file-name';

/** Room for boundaries, part headers and text parts. */
const ENVELOPE_BYTES_MAX = 64 * 1024;
const TEXT_BYTES_MAX = 10_000;
const PARTS_MAX = 20;

export interface UploadLimit {
  bytesMax: number;
  /** The problem of a larger file. */
  tooLarge: () => Problem;
  /** Of all uploads of the process. */
  turns: EventLoopTurns;
}

export interface UploadedFile {
  /** The name that the client gave it. */
  name: string;
  content: Readable;
}

export interface ReceivedFile<Result> {
  /** The text parts, which may come before and after the file. */
  fields: ReadonlyMap<string, string>;
  result: Result;
}

/**
 * Passes the part `file` of a multipart body to `store` as a stream, and returns the result. The first problem ends it at
 * once, while the client is still sending; then the stream is destroyed with an error, so that `store` stores nothing.
 * @throws Problem `tooLarge`, `invalid` for no file, several, too many parts or too long texts, `malformed` for a broken
 * body.
 */
export async function receiveFile<Result>(
  request: IncomingMessage,
  owner: ShareOwner,
  { bytesMax, tooLarge, turns }: UploadLimit,
  store: (file: UploadedFile) => Promise<Result>,
): Promise<ReceivedFile<Result>> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax + ENVELOPE_BYTES_MAX) throw tooLarge();
  const parser = openParser(request, bytesMax);
  // It says so no more: who asked for something before may have waited meanwhile.
  if (request.destroyed && !request.complete) throw new Problem('timed-out', 'The client disconnected.');
  const pieces = inTurns(owner, turns);
  const fields = new Map<string, string>();
  let stream: BusboyFileStream | undefined;
  let storing: Promise<Result> | undefined;

  const reading = new Promise<void>((resolve, reject) => {
    parser.on('field', (name: string, value: string, _isNameCut: boolean, isCut: boolean) => {
      if (isCut) reject(tooLongText());
      fields.set(name, value);
    });
    for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
      parser.once(limit, () => reject(tooManyParts()));
    }
    parser.on('file', (part: string, content: BusboyFileStream, name: string) => {
      // An error of a part fails the whole upload; without a listener it would end the process.
      content.on('error', (error) => reject(asProblem(error)));
      if (part !== 'file' || stream) {
        content.resume();
        return reject(
          invalid(
            { file: stream ? 'Unique' : 'NotEmpty' },
            'The body must have exactly one file, as the part `file`.',
          ),
        );
      }
      stream = content;
      content.once('limit', () => content.destroy(tooLarge()));
      storing = store({ name: cleanFileName(name ?? ''), content });
      storing.catch(reject);
    });
    parser.once('finish', resolve);
    parser.on('error', (error: unknown) => reject(asProblem(error)));
    request.on('error', (error) => reject(asProblem(error)));
    request.once('close', () => {
      if (!request.complete) reject(asProblem(new Error('The client disconnected.')));
    });
    request.pipe(pieces).pipe(parser);
  });

  try {
    await reading;
    if (!storing)
      throw invalid({ file: 'NotEmpty' }, 'The body must have exactly one file, as the part `file`.');
    return { fields, result: await storing };
  } catch (error) {
    request.unpipe(pieces);
    pieces.destroy();
    request.resume();
    stream?.destroy(error as Error);
    await storing?.catch(() => undefined);
    throw error;
  }
}

function openParser({ headers }: IncomingMessage, bytesMax: number): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        files: PARTS_MAX,
        fields: PARTS_MAX,
        parts: PARTS_MAX,
        fieldSize: TEXT_BYTES_MAX,
        fileSize: bytesMax,
        headerPairs: 100,
      },
    });
  } catch (error) {
    throw asProblem(error);
  }
}

const tooManyParts = (): Problem =>
  invalid({ body: 'MaximumLength' }, `A multipart body has at most ${PARTS_MAX} parts.`);

const tooLongText = (): Problem =>
  invalid({ body: 'MaximumLength' }, `A text part has at most ${TEXT_BYTES_MAX} bytes.`);

const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('malformed', 'The multipart body is incomplete or malformed.', { cause: error });
