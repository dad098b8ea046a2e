import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import { receiveFile } from '@plinth/conventions/receive-file';
import type { Caller } from '@plinth/kernel/caller';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { Deps } from '../compose';
import {
  definitionNotImportable,
  definitionUnknown,
  fileTooLarge,
  fileUnreadable,
  fileUnsupported,
} from '../domain/problems';
import { UnreadableFile } from '../formats/unreadable-file';
import { cellFormatOf } from '../formats/cell-evidence';
import { formatOfCorrection, type EarlierImport } from '../formats/correction-format';
import { readWorkbookParts } from '../formats/workbook/workbook-parts';
import { FormatDetector, type Detection } from '../formats/detect';
import type { FileFormat } from '../formats/file-format';
import type { NewImportJob } from '../store/import-store';

type Needs = Pick<Deps, 'config' | 'owners' | 'imports' | 'blobs' | 'clock' | 'cultures'>;

/**
 * Streams an upload into the blob store and finds out what it is. Its parts may come in either order; nothing of
 * the file is kept in memory, and nothing in the store when it is refused.
 */
export async function receiveUpload(
  request: IncomingMessage,
  caller: Caller,
  deps: Needs,
): Promise<NewImportJob> {
  const { blobs, owners, imports, clock, config, cultures } = deps;
  const id = newId();
  const blobKey = `${caller.tenantId}/imports/${id}`;
  try {
    const limit = {
      bytesMax: config.EXCHANGE_UPLOAD_BYTES_MAX,
      tooLarge: () => fileTooLarge(config.EXCHANGE_UPLOAD_BYTES_MAX),
    };
    const { fields, taken } = await receiveFile(request, limit, async ({ name, content }) => ({
      fileName: name,
      ...(await store(content, blobKey, blobs)),
    }));
    const { fileName, stored, detection } = taken;
    const definitionName = fields.get('definitionName') ?? '';
    if (definitionName === '') throw invalid({ definitionName: 'NotEmpty' });
    const definition = await owners.find(definitionName);
    if (!definition) throw definitionUnknown(definitionName);
    if (!definition.importable) throw definitionNotImportable(definitionName);
    const format = await formatOf(detection, {
      blobs,
      blobKey,
      sizeBytes: stored.sizeBytes,
      cultureOf: () => cultures.of(caller, request),
      earlierImports: () => imports.withFailedRows(caller.tenantId, definition.name),
    });
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
  /** Whose correction file it may be. */
  earlierImports(): Promise<EarlierImport[]>;
}

/** How the file is to be read. @throws Problem: it is empty, of no type that can be imported, or nobody should unpack it. */
async function formatOf(detection: Detection, upload: StoredUpload): Promise<FileFormat> {
  switch (detection.found) {
    case 'empty':
      throw invalid({ file: 'NotEmpty' }, 'The file is empty.');
    case 'unsupported':
      throw fileUnsupported();
    case 'workbook':
      return { kind: 'xlsx', sheets: await sheetsOf(upload) };
    case 'text':
      return textFormatOf(detection, upload);
  }
}

async function textFormatOf(
  { head, format, evidence }: Extract<Detection, { found: 'text' }>,
  { cultureOf, earlierImports }: StoredUpload,
): Promise<FileFormat> {
  const corrected = formatOfCorrection(head, format, await earlierImports());
  return corrected ?? { ...format, ...(await cellFormatOf(evidence, cultureOf)) };
}

/** The sheets of a workbook. @throws Problem: a zip that is none, or one that nobody should unpack. */
async function sheetsOf({ blobs, blobKey, sizeBytes }: StoredUpload): Promise<string[]> {
  const stream = (start: number, end: number): Promise<Readable> => blobs.get(blobKey, { start, end });
  const read = async (start: number, end: number) => buffer(await stream(start, end));
  try {
    const parts = await readWorkbookParts({ sizeBytes, stream, read });
    if (!parts) throw fileUnsupported();
    return parts.sheets.map(({ name }) => name);
  } catch (error) {
    throw error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
  }
}

function mimeTypeOf(format: FileFormat): string {
  if (format.kind === 'xlsx') return fileTypes.xlsx;
  return format.delimiter === '\t' ? fileTypes.tsv : fileTypes.csv;
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
