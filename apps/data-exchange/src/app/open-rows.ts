import { addAbortSignal, type Readable } from 'node:stream';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { XlsxFormat } from '../formats/file-format';
import { readCsv, type FileRows } from '../formats/read-csv';
import { readXlsx } from '../formats/read-xlsx';
import { usualSheet } from '../formats/sheet-dates';
import { wholeFile, type FileRange } from '../formats/record-index';
import { fileUnreadable } from '../domain/problems';
import { UnreadableFile } from '../formats/unreadable-file';
import type { ImportJob } from '../store/import-store';

/** Opens a range of the uploaded text file of a job as rows; fails as `openRows` does. */
export async function openRange(
  job: Pick<ImportJob, 'blobKey' | 'format' | 'options' | 'headers'>,
  blobs: BlobStore,
  { startByte, endByte, recordsBefore }: FileRange = wholeFile,
  signal?: AbortSignal,
): Promise<FileRows> {
  const { format, headers } = job;
  if (format.kind !== 'csv' || (startByte === 0 && endByte === null)) return openRows(job, blobs, { signal });
  try {
    const part = { start: startByte, ...(endByte === null ? {} : { end: endByte - 1 }) };
    const bytes = abortedBy(signal, await blobs.get(job.blobKey, part));
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

/** Opens the uploaded file of a job as rows. @throws Problem `import-file-unreadable`, and the reason of the signal. */
export async function openRows(
  job: Pick<ImportJob, 'blobKey' | 'format' | 'options'>,
  blobs: BlobStore,
  { sheet = job.options.sheet, signal }: ReadingOptions = {},
): Promise<FileRows> {
  const { format } = job;
  try {
    const bytes = abortedBy(signal, await blobs.get(job.blobKey));
    const file =
      format.kind === 'csv'
        ? await readCsv(bytes, format)
        : await readXlsx(bytes, sheetOf(format, sheet), signal);
    return { ...file, rows: withProblems(file.rows, signal) };
  } catch (error) {
    signal?.throwIfAborted();
    throw toProblem(error);
  }
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
