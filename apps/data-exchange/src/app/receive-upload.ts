import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import type { InTurns } from '@plinth/exchange/in-turns';
import { receiveFile } from '@plinth/http/receive-file';
import type { RowQuota } from '@plinth/http/row-quota';
import type { CallerCulture } from '@plinth/clients/caller-culture';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { composed } from '@plinth/kernel/composed';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { UnrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { EventLoopTurns, FairPlaces } from '@plinth/runtime/process/fair-places';
import { widerPermissionOf } from '../domain/definition';
import {
  definitionNotImportable,
  definitionUnknown,
  fileTooLarge,
  fileUnsupported,
} from '../domain/problems';
import { requireRoomForFiles, type TenantQuota } from '../domain/tenant-quota';
import { cellFormatOf } from '../formats/cell-evidence';
import { formatOfCorrection, type EarlierImport } from '../formats/correction-file-format';
import type { Sheet } from '../formats/workbook/workbook-parts';
import { FormatDetector, type Detection } from '../formats/detect-format';
import type { FileFormat } from '../formats/file-format';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportStore, NewImportJob } from '../store/import-store';
import { keptBytesOf } from '../store/kept-quota';
import type { TenantUsageStore } from '../store/tenant-usage-store';
import type { ArrivingBytes } from './arriving-bytes';
import { toProblem } from './open-rows';
import { openWorkbook } from './open-workbook';

export interface UploadDependencies {
  config: { EXCHANGE_UPLOAD_BYTES_MAX: number } & TenantQuota;
  usage: TenantUsageStore;
  kept: Pick<RowQuota, 'take'>;
  owners: Owners;
  imports: ImportStore;
  blobs: BlobStore;
  unrecordedBlobs: UnrecordedBlobs;
  cultures: CallerCulture;
  clock: Clock;
  turns: EventLoopTurns;
  /** What is found of a file, and compared with, is in memory meanwhile. */
  detectionPlaces: FairPlaces;
  arriving: ArrivingBytes;
}

/**
 * Streams an upload into the blob store, detects its format and creates its job. Its parts may come in either order; the file is never
 * in memory as a whole, and not in the store when it is refused.
 */
export async function receiveUpload(
  request: IncomingMessage,
  caller: Caller,
  dependencies: UploadDependencies,
  signal: AbortSignal,
): Promise<ImportJob> {
  const { blobs, unrecordedBlobs, owners, imports, usage, kept, clock, config, cultures, turns } =
    dependencies;
  const stored = await usage.of(caller.tenantId);
  requireRoomForFiles(config, stored, 1, clock.now());
  const id = newId();
  const blobKey = `${caller.tenantId}/imports/${id}`;
  const blob = { tenantId: caller.tenantId, key: blobKey };
  await unrecordedBlobs.begin(blob);
  const arrival = dependencies.arriving.begin(caller.tenantId, (bytes) =>
    requireRoomForFiles(config, stored, bytes, clock.now()),
  );
  try {
    const limit = {
      bytesMax: config.EXCHANGE_UPLOAD_BYTES_MAX,
      tooLarge: () => fileTooLarge(config.EXCHANGE_UPLOAD_BYTES_MAX),
      turns,
    };
    const receive = () =>
      receiveFile(request, caller, limit, async ({ name, content }) => ({
        fileName: name,
        ...(await store(content, arrival.add, blobKey, blobs)),
      }));
    const { fields, result } = await unrecordedBlobs.whileStoring(blob, receive);
    const { fileName, file, detector } = result;
    const given = fields.get('definitionName') ?? '';
    const definitionName = composed(given) ?? given;
    if (definitionName === '') throw invalid({ definitionName: 'NotEmpty' });
    const definition = await owners.find(definitionName);
    if (!definition) throw definitionUnknown(definitionName);
    if (!definition.importable) throw definitionNotImportable(definitionName);
    const detect = async () => {
      const detection = await turns.takeEach(caller, detector.end());
      return formatOf(detection, {
        blobs,
        blobKey,
        sizeBytes: file.sizeBytes,
        inTurns: (steps) => turns.takeEach(caller, steps),
        cultureOf: () => cultures.of(caller, request),
        earlierImports: () => imports.listWithFailedRows(caller.tenantId, definition.name),
      });
    };
    const format = await dependencies.detectionPlaces.run(caller, detect, signal);
    kept.take(caller.tenantId, keptBytesOf(format));
    const job: NewImportJob = {
      tenantId: caller.tenantId,
      id,
      definitionName: definition.name,
      entityType: definition.entityType,
      permission: definition.permission,
      widerPermission: widerPermissionOf(definition, caller),
      originalFileName: fileName,
      mimeType: mimeTypeOf(format),
      fileSizeBytes: file.sizeBytes,
      sha256: file.sha256,
      blobKey,
      format,
      createdBy: caller.userId,
      createdAt: clock.now(),
    };
    // Others of the tenant may have been stored meanwhile.
    return await imports.insert(job, (used) =>
      requireRoomForFiles(config, used, file.sizeBytes, clock.now()),
    );
  } catch (error) {
    await unrecordedBlobs.abandon(blob, async () => (await imports.find(caller.tenantId, id)) !== undefined);
    throw toProblem(error);
  } finally {
    arrival.end();
  }
}

interface StoredUpload {
  blobs: BlobStore;
  blobKey: string;
  sizeBytes: number;
  inTurns: InTurns;
  cultureOf(): Promise<string>;
  /** The imports whose correction file it may be. */
  earlierImports(): Promise<EarlierImport[]>;
}

/** The format of the file. @throws UnreadableFile where it is unsafe to unpack; Problem where it is empty or of no type that can be imported */
async function formatOf(detection: Detection, upload: StoredUpload): Promise<FileFormat> {
  switch (detection.found) {
    case 'empty':
      throw invalid({ file: 'NotEmpty' }, 'The file is empty.');
    case 'unsupported':
      throw fileUnsupported();
    case 'workbook':
      return workbookFormatOf(await sheetsOf(upload));
    case 'text':
      return textFormatOf(detection, upload);
  }
}

async function textFormatOf(
  { head, format, evidence }: Extract<Detection, { found: 'text' }>,
  { inTurns, cultureOf, earlierImports }: StoredUpload,
): Promise<FileFormat> {
  const corrected = await inTurns(formatOfCorrection(head, format, await earlierImports()));
  return corrected ?? { ...format, ...(await cellFormatOf(evidence, cultureOf)) };
}

/** A workbook is read from the first sheet that people see. */
function workbookFormatOf(sheets: readonly Sheet[]): FileFormat {
  const shown = Math.max(
    0,
    sheets.findIndex(({ isHidden }) => !isHidden),
  );
  const names = sheets.map(({ name }) => name);
  return { kind: 'xlsx', sheets: names, ...(shown > 0 ? { sheet: names[shown] } : {}) };
}

/** The sheets of a workbook. @throws UnreadableFile, or Problem for a zip that is no workbook */
async function sheetsOf({ blobs, ...file }: StoredUpload): Promise<Sheet[]> {
  const parts = await openWorkbook(blobs, file);
  if (!parts) throw fileUnsupported();
  return parts.sheets;
}

function mimeTypeOf(format: FileFormat): string {
  if (format.kind === 'xlsx') return fileTypes.xlsx;
  return format.delimiter === '\t' ? fileTypes.tsv : fileTypes.csv;
}

/** Stores the bytes while the detector reads them. @param onBytes throws where there is no room for more */
async function store(content: Readable, onBytes: (count: number) => void, blobKey: string, blobs: BlobStore) {
  const detector = new FormatDetector();
  const inspected = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        onBytes(chunk.length);
      } catch (error) {
        content.destroy(error as Error);
        return;
      }
      detector.push(chunk);
      done(null, chunk);
    },
  });
  // The store may not listen yet when the upload is interrupted.
  inspected.on('error', () => undefined);
  content.on('error', (error) => inspected.destroy(error));
  content.once('close', () => {
    if (!content.readableEnded) inspected.destroy(new Error('The upload was interrupted.'));
  });
  const file = await blobs.put(blobKey, content.pipe(inspected), { isSentByClient: true });
  return { file, detector };
}
