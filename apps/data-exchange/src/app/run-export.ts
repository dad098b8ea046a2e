import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ExportPhase } from '@plinth/contracts/data-exchange/shapes';
import { ID_PROPERTY } from '@plinth/exchange/definition';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { UnrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import { collectBuffersEvery } from '@plinth/runtime/process/garbage-collection';
import { exportBlobKey, exportFileName } from '../domain/export-job';
import { hasRoomForFiles, type TenantQuota, type TenantUsage } from '../domain/tenant-quota';
import { definitionNotFound } from '../domain/problems';
import { ID_HEADER, type Definition } from '../domain/definition';
import type { FileColumn } from '../formats/file-column';
import { countCopiedRows } from '@plinth/exchange/export/copy-text';
import { writeFile } from '../formats/write-file';
import type { Owners } from '../grpc/owners';
import { receiveRows } from '../grpc/receive-rows';
import type { ExportJob, ExportProgress, ExportStore } from '../store/export-store';
import type { TenantUsageStore } from '../store/tenant-usage-store';
import type { ArrivingBytes } from './arriving-bytes';

export interface ExportDependencies {
  exports: ExportStore;
  owners: Owners;
  blobs: BlobStore;
  clock: Clock;
  config: TenantQuota;
  usage: TenantUsageStore;
  unrecordedBlobs: UnrecordedBlobs;
  arriving: ArrivingBytes;
}

const PROGRESS_MILLISECONDS = 1_000;
/** Of rows; what is written of them, and what they came in, takes as much again each. */
const UNCOLLECTED_BYTES_MAX = 4 * 1_024 * 1_024;

/** Ends the job without a file and says why; to try again would end it again. */
class ExportEnded extends Error {}

const CANCELLED = 'The export was cancelled.';
const NO_ROOM = 'Your tenant has no room for more files.';

/** Writes the file of an export and ends the job. Run again, it starts over; the file is stored only when it is complete. */
export async function runExport(
  dependencies: ExportDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const { exports, owners, blobs, unrecordedBlobs, clock, config, usage } = dependencies;
  const blobKey = exportBlobKey(tenantId, jobId, newId());
  const job = await exports.begin(tenantId, jobId, blobKey);
  if (!job) return;
  if (job.blobKey !== null) await blobs.delete(job.blobKey);
  if (job.cancelRequestedAt !== null) return exports.fail(tenantId, jobId, CANCELLED, clock.now());
  // Those that were asked for before may have used the room up meanwhile.
  const used = await usage.of(tenantId);
  if (!hasRoomForFiles(config, used)) return exports.fail(tenantId, jobId, NO_ROOM, clock.now());
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);

  // The job names the file of its last run only; what another one left is known by this.
  const blob = { tenantId, key: blobKey };
  await unrecordedBlobs.begin(blob);

  const progress: ExportProgress = { phase: ExportPhase.WritingRows, rowsDone: 0 };
  const stop = new AbortController();
  const ended = new AbortController();
  void recordProgress(exports, job, progress, stop, ended.signal);
  const stopped = AbortSignal.any([signal, stop.signal]);
  const requireRoom = (usedNow: TenantUsage, bytes: number): void => {
    if (!hasRoomForFiles(config, usedNow, bytes)) throw new ExportEnded(NO_ROOM);
  };
  const arrival = dependencies.arriving.begin(tenantId, (bytes) => requireRoom(used, bytes));
  let isFileOfJob = false;
  const rows = counted(receiveJobRows(dependencies, job, definition, stopped), progress);
  try {
    const pieces = measured(writeFile(job.format, columnsOf(job, definition), rows), arrival.add);
    const content = Readable.from(pieces, { objectMode: false });
    const stored = await unrecordedBlobs.whileStoring(blob, () => blobs.put(blobKey, content));
    const fileName = exportFileName(job);
    const file = { ...stored, blobKey, fileName, rowCount: progress.rowsDone, at: clock.now() };
    // Others of the tenant may have been stored meanwhile, and other processes count what arrives there.
    isFileOfJob = await exports.complete(tenantId, jobId, file, (usedNow) =>
      requireRoom(usedNow, stored.sizeBytes),
    );
  } catch (error) {
    if (!(error instanceof ExportEnded)) throw error;
    await exports.fail(tenantId, jobId, error.message, clock.now());
  } finally {
    ended.abort();
    arrival.end();
    // Another run may have been started meanwhile, or have ended the job: nobody asks for this file.
    if (!isFileOfJob)
      await unrecordedBlobs.abandon(blob, () => exports.isFileOfJob(tenantId, jobId, blobKey));
  }
}

function receiveJobRows(
  { owners }: ExportDependencies,
  job: ExportJob,
  definition: Definition,
  signal: AbortSignal,
) {
  const { fields, includeId, selection } = job.request;
  return receiveRows(
    { owner: owners.clientOf(definition), service: definition.owner, caller: job.caller, signal },
    { definition: definition.name, fields: [...fields], includeId, selection: JSON.stringify(selection) },
  );
}

/** Records the progress until the export ends, and stops it when it was cancelled, also while no row arrives. */
async function recordProgress(
  exports: ExportStore,
  { tenantId, id }: ExportJob,
  progress: ExportProgress,
  stop: AbortController,
  ended: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await pause(PROGRESS_MILLISECONDS, undefined, { signal: ended });
      const { isCancelled } = await exports.recordProgress(tenantId, id, progress);
      if (isCancelled) throw new ExportEnded(CANCELLED);
    }
  } catch (error) {
    if (!ended.aborted) stop.abort(error);
  }
}

async function* counted(pieces: AsyncGenerator<Buffer>, progress: ExportProgress): AsyncGenerator<Buffer> {
  const collect = collectBuffersEvery(UNCOLLECTED_BYTES_MAX);
  for await (const lines of pieces) {
    yield lines;
    progress.rowsDone += countCopiedRows(lines);
    collect(lines.length);
  }
  progress.phase = ExportPhase.FinishingFile;
}

/** @param onBytes throws where there is no room for more */
async function* measured(
  pieces: AsyncIterable<Buffer>,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    onBytes(piece.length);
    yield piece;
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
