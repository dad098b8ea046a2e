import { addAbortSignal, type Readable } from 'node:stream';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { ByteBudget, ByteReservation } from '@plinth/runtime/process/byte-budget';
import type { XlsxFormat } from '../formats/file-format';
import { readCsv, type FileRows } from '../formats/read-csv';
import { readXlsx } from '../formats/read-xlsx';
import { usualSheet } from '../formats/sheet-dates';
import { wholeFile, type FileRange } from '../formats/record-index';
import { fileUnreadable } from '../domain/problems';
import { UnreadableFile } from '../formats/unreadable-file';
import type { ImportJob } from '../store/import-store';
import { openWorkbook } from './open-workbook';

/** Where the rows of uploads are read from. */
export interface RowSource {
  blobs: BlobStore;
  /** Of the files in which this process has the workbooks that it reads, and their texts. */
  scratch: ByteBudget;
}

type UploadedFile = Pick<ImportJob, 'tenantId' | 'blobKey' | 'fileSizeBytes' | 'format' | 'options'>;

/** As with the places at which workbooks are read: a tenant that reads two of the largest leaves room for one of another. */
export const SCRATCH_SHARES = { limitsUsers: false, timesFree: 2 };
const RETRY_AFTER_SECONDS = 10;

/** Opens a range of the uploaded text file of a job as rows; fails as `openRows` does. */
export async function openRange(
  job: UploadedFile & Pick<ImportJob, 'headers'>,
  source: RowSource,
  { startByte, endByte, recordsBefore }: FileRange = wholeFile,
  signal?: AbortSignal,
): Promise<FileRows> {
  const { format, headers } = job;
  if (format.kind !== 'csv' || (startByte === 0 && endByte === null))
    return openRows(job, source, { signal });
  try {
    const part = { start: startByte, ...(endByte === null ? {} : { end: endByte - 1 }) };
    const bytes = abortedBy(signal, await source.blobs.get(job.blobKey, part));
    const later = startByte === 0 ? undefined : { headers: headers ?? [], recordsBefore };
    const file = await readCsv(bytes, format, later);
    return { ...file, rows: withProblems(file.rows, signal) };
  } catch (error) {
    signal?.throwIfAborted();
    throw toProblem(error);
  }
}

export interface ReadingOptions {
  /** Another sheet than that of the job's options. */
  sheet?: string | undefined;
  /** Ends the reading, such as that of a workbook for a client that left. */
  signal?: AbortSignal | undefined;
}

/**
 * Opens the uploaded file of a job as rows.
 * @throws Problem `import-file-unreadable`; `share-used-up` or `overloaded` where there is no room for the files of a workbook
 * just now; and the reason of the signal
 */
export async function openRows(
  job: UploadedFile,
  source: RowSource,
  { sheet = job.options.sheet, signal }: ReadingOptions = {},
): Promise<FileRows> {
  const { format } = job;
  try {
    const file =
      format.kind === 'csv'
        ? await readCsv(abortedBy(signal, await source.blobs.get(job.blobKey)), format)
        : await openSheet(job, source, sheetOf(format, sheet), signal);
    return { ...file, rows: withProblems(file.rows, signal) };
  } catch (error) {
    signal?.throwIfAborted();
    throw toProblem(error);
  }
}

async function openSheet(
  job: UploadedFile,
  source: RowSource,
  sheet: XlsxFormat,
  signal: AbortSignal | undefined,
): Promise<FileRows> {
  const blobs: Pick<BlobStore, 'get'> = {
    get: async (...wanted) => abortedBy(signal, await source.blobs.get(...wanted)),
  };
  const room = await takeRoom(job, { ...source, blobs });
  const onEnd = () => room.release();
  try {
    return await readXlsx(await blobs.get(job.blobKey), sheet, { signal, onEnd });
  } catch (error) {
    // It may have failed before anything was read.
    onEnd();
    throw error;
  }
}

/**
 * Takes room for all that the files of a workbook may have, before there is any of them: of two that had a part of it, and
 * needed more, each would wait for the other, or undo what it has read for it.
 */
async function takeRoom(
  { tenantId, blobKey, fileSizeBytes: sizeBytes }: UploadedFile,
  { blobs, scratch }: Pick<RowSource, 'scratch'> & { blobs: Pick<BlobStore, 'get'> },
): Promise<ByteReservation> {
  const parts = await openWorkbook(blobs, { blobKey, sizeBytes });
  const bytes = sizeBytes + (parts?.sharedStrings?.unpackedBytes ?? 0);
  if (bytes > scratch.bytesMax)
    throw new UnreadableFile(
      `The workbook, which has ${bytes} bytes with its texts, has more than the ${scratch.bytesMax} that can be read.`,
    );
  const room = scratch.reserve({ tenantId, userId: '' });
  const refusal = room.grow(bytes);
  if (refusal) throw shareUsedUp(refusal, 'bytes of workbooks that are read', RETRY_AFTER_SECONDS);
  return room;
}

/** Bytes that end with a signal, also where it was given while they were fetched. @throws its reason */
export function abortedBy(signal: AbortSignal | undefined, bytes: Readable): Readable {
  if (signal?.aborted) bytes.destroy();
  signal?.throwIfAborted();
  return signal ? addAbortSignal(signal, bytes) : bytes;
}

/** Of another sheet than the one whose format was corrected it is not known where its header is. */
const sheetOf = (format: XlsxFormat, sheet: string | undefined): XlsxFormat =>
  sheet === undefined || sheet === usualSheet(format) ? format : { kind: 'xlsx', sheet };

async function* withProblems<Piece>(
  pieces: AsyncGenerator<Piece>,
  signal?: AbortSignal,
): AsyncGenerator<Piece> {
  try {
    yield* pieces;
  } catch (error) {
    signal?.throwIfAborted();
    throw toProblem(error);
  }
}

/** What an error of reading a file is for its uploader; other errors stay what they are. */
export const toProblem = (error: unknown): unknown =>
  error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
