import type { BlobStore } from '@plinth/runtime/blob-store';
import { UnreadableFile } from '../formats/unreadable-file';
import { readCsv, type FileRows } from '../formats/read-csv';
import { readXlsx } from '../formats/read-xlsx';
import { fileUnreadable } from '../domain/problems';
import type { ImportJob } from '../store/import-store';

/** Opens the uploaded file of a job as rows. @throws Problem `import-file-unreadable`. */
export async function openRows(
  job: Pick<ImportJob, 'blobKey' | 'format' | 'options'>,
  blobs: BlobStore,
  sheet: string | undefined = job.options.sheet,
): Promise<FileRows> {
  const { format } = job;
  try {
    const bytes = await blobs.get(job.blobKey);
    const file =
      format.kind === 'csv' ? await readCsv(bytes, format) : await readXlsx(bytes, sheet ?? format.sheet);
    return { ...file, rows: translated(file.rows) };
  } catch (error) {
    throw toProblem(error);
  }
}

async function* translated<Piece>(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  try {
    yield* pieces;
  } catch (error) {
    throw toProblem(error);
  }
}

const toProblem = (error: unknown): unknown =>
  error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
