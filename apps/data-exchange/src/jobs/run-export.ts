import { Readable } from 'node:stream';
import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blob-store';
import { exportBlobKey, exportFileName } from '../domain/export-job';
import { definitionNotFound } from '../domain/problems';
import { ID_HEADER, ID_PROPERTY, type Definition } from '../domain/definition';
import type { FileColumn } from '../formats/file-column';
import { countCopiedRows } from '../formats/copy-text';
import { writeFile } from '../formats/write-file';
import type { Owners } from '../grpc/owners';
import { receiveRows } from '../grpc/receive-rows';
import type { ExportJob, ExportStore } from '../store/export-store';

export interface ExportRunParts {
  exports: ExportStore;
  owners: Owners;
  blobs: BlobStore;
  clock: Clock;
}

const PROGRESS_MILLISECONDS = 1_000;

class ExportCancelled extends Error {}

/** Writes the file of an export and ends the job. Run again, it starts over; the file appears only when it is whole. */
export async function runExport(
  parts: ExportRunParts,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const { exports, owners, blobs, clock } = parts;
  const job = await exports.begin(tenantId, jobId);
  if (!job) return;
  if (job.cancelRequestedAt !== null) return exports.fail(tenantId, jobId, CANCELLED, clock.now());
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);

  const blobKey = exportBlobKey(tenantId, jobId);
  const progress = { rows: 0, notedAt: Date.now() };
  const rows = counted(parts, job, rowsOf(parts, job, definition, signal), progress);
  try {
    const stored = await blobs.put(
      blobKey,
      Readable.from(writeFile(job.format, columnsOf(job, definition), rows), { objectMode: false }),
    );
    const fileName = exportFileName(job);
    await exports.complete(tenantId, jobId, {
      ...stored,
      blobKey,
      fileName,
      rowCount: progress.rows,
      at: clock.now(),
    });
  } catch (error) {
    if (!(error instanceof ExportCancelled)) throw error;
    await exports.fail(tenantId, jobId, CANCELLED, clock.now());
  }
}

const CANCELLED = 'The export was cancelled.';

function rowsOf({ owners }: ExportRunParts, job: ExportJob, definition: Definition, signal: AbortSignal) {
  const { fields, includeId, selection } = job.request;
  return receiveRows(
    { owner: owners.of(definition), area: definition.owner, caller: job.caller, signal },
    { definition: definition.name, fields: [...fields], includeId, selection: JSON.stringify(selection) },
  );
}

/** Notes how far the export is, and stops it when somebody cancelled it. */
async function* counted(
  { exports }: ExportRunParts,
  job: ExportJob,
  pieces: AsyncGenerator<Buffer>,
  progress: { rows: number; notedAt: number },
): AsyncGenerator<Buffer> {
  for await (const lines of pieces) {
    yield lines;
    progress.rows += countCopiedRows(lines);
    if (Date.now() - progress.notedAt < PROGRESS_MILLISECONDS) continue;
    progress.notedAt = Date.now();
    const { isCancelled } = await exports.noteProgress(job.tenantId, job.id, progress.rows);
    if (isCancelled) throw new ExportCancelled();
  }
}

function columnsOf({ request }: ExportJob, { fields }: Definition): FileColumn[] {
  const columns = request.fields.map((property) => {
    const field = fields.find(({ propertyPath }) => propertyPath === property);
    return { property, header: field?.header ?? property, type: field?.type ?? 'string' };
  });
  return request.includeId
    ? [{ property: ID_PROPERTY, header: ID_HEADER, type: 'uuid' }, ...columns]
    : columns;
}
