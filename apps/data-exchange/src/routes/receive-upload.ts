import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import type { Caller } from '@plinth/kernel/caller';
import { invalid, Problem } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { StoredBlob } from '@plinth/runtime/blob-store';
import type { Deps } from '../compose';
import {
  definitionNotImportable,
  definitionUnknown,
  fileTooLarge,
  fileUnreadable,
  fileUnsupported,
} from '../domain/problems';
import { UnreadableFile } from '../formats/csv-reader';
import { cellFormatOf } from '../formats/cell-evidence';
import { isWorkbook } from '../formats/zip-directory';
import { FormatDetector, type Detection } from '../formats/detect';
import type { FileFormat } from '../formats/file-format';
import type { NewImportJob } from '../store/import-store';

type Needs = Pick<Deps, 'config' | 'owners' | 'blobs' | 'clock' | 'cultures'>;

const FILE_NAME_LENGTH_MAX = 255;
const FIELD_BYTES_MAX = 10_000;

interface Upload {
  fileName: string;
  definitionName: string | undefined;
  stored: StoredBlob;
  detection: Detection;
}

/**
 * Streams an upload into the blob store and finds out what it is. Its parts may come in either order; nothing of
 * the file is kept in memory, and nothing in the store when it is refused.
 */
export async function receiveUpload(
  request: IncomingMessage,
  caller: Caller,
  deps: Needs,
): Promise<NewImportJob> {
  const { blobs, owners, clock, config, cultures } = deps;
  const id = newId();
  const blobKey = `${caller.tenantId}/imports/${id}`;
  try {
    const { fileName, definitionName, stored, detection } = await readParts(request, blobKey, deps);
    if (definitionName === undefined || definitionName === '') throw invalid({ definitionName: 'NotEmpty' });
    const definition = await owners.find(definitionName);
    if (!definition) throw definitionUnknown(definitionName);
    if (!definition.importable) throw definitionNotImportable(definitionName);
    if (stored.sizeBytes > config.EXCHANGE_UPLOAD_BYTES_MAX)
      throw fileTooLarge(config.EXCHANGE_UPLOAD_BYTES_MAX);
    const cultureOf = () => cultures.of(caller, request);
    const format = await formatOf(detection, { blobs, blobKey, sizeBytes: stored.sizeBytes, cultureOf });
    return {
      tenantId: caller.tenantId,
      id,
      definitionName: definition.name,
      permission: definition.permission,
      originalFileName: fileName,
      mimeType: mimeTypeOf(format),
      fileSizeBytes: stored.sizeBytes,
      sha256: stored.sha256,
      blobKey,
      format,
      createdBy: caller.userId,
      createdAt: clock.now(),
    };
  } catch (error) {
    await blobs.delete(blobKey);
    throw error;
  }
}

interface StoredUpload {
  blobs: Deps['blobs'];
  blobKey: string;
  sizeBytes: number;
  cultureOf(): Promise<string>;
}

/** How the file is to be read. @throws Problem: it is empty, of no type that can be imported, or nobody should unpack it. */
async function formatOf(detection: Detection, upload: StoredUpload): Promise<FileFormat> {
  switch (detection.found) {
    case 'empty':
      throw invalid({ file: 'NotEmpty' }, 'The file is empty.');
    case 'unsupported':
      throw fileUnsupported();
    case 'workbook':
      await requireWorkbook(upload);
      return { kind: 'xlsx' };
    case 'text':
      return { ...detection.format, ...(await cellFormatOf(detection.evidence, upload.cultureOf)) };
  }
}

/** @throws Problem: a zip that is no workbook, or one that nobody should unpack. */
async function requireWorkbook({ blobs, blobKey, sizeBytes }: StoredUpload): Promise<void> {
  try {
    if (!(await isWorkbook(blobs, blobKey, sizeBytes))) throw fileUnsupported();
  } catch (error) {
    throw error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
  }
}

function mimeTypeOf(format: FileFormat): string {
  if (format.kind === 'xlsx') return fileTypes.xlsx;
  return format.delimiter === '\t' ? fileTypes.tsv : fileTypes.csv;
}

/** Reads the parts; the first thing that is wrong ends it at once, and the client is answered while it still sends. */
async function readParts(
  request: IncomingMessage,
  blobKey: string,
  { blobs, config }: Needs,
): Promise<Upload> {
  const bytesMax = config.EXCHANGE_UPLOAD_BYTES_MAX;
  if (Number(request.headers['content-length'] ?? 0) > bytesMax + FIELD_BYTES_MAX)
    throw fileTooLarge(bytesMax);
  const parser = openParser(request, bytesMax);
  const found: { fileName?: string; definitionName?: string; content?: Readable } = {};
  let storing: Promise<{ stored: StoredBlob; detection: Detection }> | undefined;

  const reading = new Promise<void>((resolve, reject) => {
    parser.on('field', (name, value) => {
      if (name === 'definitionName') found.definitionName = value;
    });
    parser.on('file', (name, content, originalName) => {
      // What goes wrong in a part goes wrong in the whole, which says so; without a listener it would end the process.
      content.on('error', (error) => reject(notWellFormed(error)));
      if (name !== 'file' || found.content) {
        content.resume();
        reject(
          invalid({ file: found.content ? 'Unique' : 'NotEmpty' }, 'Send one file, as the part `file`.'),
        );
        return;
      }
      found.fileName = cleanFileName(originalName);
      found.content = content;
      content.once('limit', () => reject(fileTooLarge(bytesMax)));
      storing = store(content, blobKey, blobs);
      storing.catch(reject);
    });
    parser.once('finish', resolve);
    parser.on('error', (error) => reject(notWellFormed(error)));
    request.on('error', (error) => reject(notWellFormed(error)));
    request.once('close', () => {
      if (!request.complete) reject(notWellFormed(undefined));
    });
    request.pipe(parser);
  });

  try {
    await reading;
    if (!storing) throw invalid({ file: 'NotEmpty' }, 'There is no part `file`.');
    return { fileName: found.fileName!, definitionName: found.definitionName, ...(await storing) };
  } catch (error) {
    request.unpipe(parser);
    request.resume();
    found.content?.destroy();
    await storing?.catch(() => undefined);
    throw error;
  }
}

const notWellFormed = (cause: unknown) =>
  new Problem('malformed', 'The multipart body is broken off or not well-formed.', { cause });

function openParser({ headers }: IncomingMessage, bytesMax: number): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fileSize: bytesMax,
        files: 10,
        fields: 10,
        parts: 20,
        fieldSize: FIELD_BYTES_MAX,
        headerPairs: 100,
      },
    });
  } catch (error) {
    throw notWellFormed(error);
  }
}

/** Stores the bytes while it looks at them. */
async function store(content: Readable, blobKey: string, blobs: Deps['blobs']) {
  const detector = new FormatDetector();
  const seen = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      detector.push(chunk);
      done(null, chunk);
    },
  });
  // The store may not listen yet when the upload breaks off.
  seen.on('error', () => undefined);
  content.on('error', (error) => seen.destroy(error));
  content.once('close', () => {
    if (!content.readableEnded) seen.destroy(new Error('The upload was broken off.'));
  });
  const stored = await blobs.put(blobKey, content.pipe(seen));
  return { stored, detection: detector.end() };
}

/** The name as data: without folders and characters that are none, never too long. */
function cleanFileName(name: string | undefined): string {
  const base = (name ?? '').split(/[/\\]/).at(-1)!;
  const clean = base
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .toWellFormed();
  return [...clean].slice(0, FILE_NAME_LENGTH_MAX).join('') || 'file';
}
