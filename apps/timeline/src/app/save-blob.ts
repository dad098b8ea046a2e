import type { Readable } from 'node:stream';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { UnrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { TimelineConfig } from '../config';
import { fileTypeOf, HEAD_LENGTH } from '../domain/file-type';
import { attachmentsFull, blobTypeNotAccepted, fileEmpty } from '../domain/problems';
import { blobKey, countedBytes, type BlobRecordStore } from '../store/blob-record-store';
import { readHead } from './read-head';

interface Parts {
  blobs: BlobStore;
  unrecordedBlobs: UnrecordedBlobs;
  blobRecords: BlobRecordStore;
  clock: Clock;
  config: Pick<TimelineConfig, 'BLOB_UNATTACHED_HOURS' | 'BLOB_TENANT_BYTES_MAX'>;
}

/** @throws Problem `quota-exceeded` where the files of a tenant have no room for more. */
export function requireRoomForBlob(limit: number, storedBytes: number, moreBytes = 1): void {
  if (storedBytes + countedBytes(moreBytes) > limit) throw attachmentsFull(limit, storedBytes);
}

/** Saves an uploaded file and its record under a new id; a file that is refused leaves nothing. */
export async function saveBlob(
  { blobs, unrecordedBlobs, blobRecords, clock, config }: Parts,
  fileName: string,
  content: Readable,
  { tenantId, userId }: Caller,
) {
  const { head, whole } = await readHead(content, HEAD_LENGTH);
  if (head.length === 0) throw fileEmpty();
  const mimeType = fileTypeOf(head, fileName);
  if (mimeType === undefined) throw blobTypeNotAccepted();
  const id = newId();
  const blob = { tenantId, key: blobKey(tenantId, id) };
  await unrecordedBlobs.begin(blob);
  try {
    const store = () => blobs.put(blob.key, whole, { isSentByClient: true });
    const { sizeBytes, sha256 } = await unrecordedBlobs.whileStoring(blob, store);
    const createdAt = clock.now();
    const record = {
      tenantId,
      id,
      fileName,
      mimeType,
      sizeBytes: BigInt(sizeBytes),
      sha256,
      uploadedBy: userId,
      createdAt,
      checkAt: new Date(createdAt.getTime() + config.BLOB_UNATTACHED_HOURS * 3_600_000),
    };
    await blobRecords.insert(record, (storedBytes) =>
      requireRoomForBlob(config.BLOB_TENANT_BYTES_MAX, storedBytes, sizeBytes),
    );
    return { id, fileName, mimeType, sizeBytes, sha256, createdAt };
  } catch (error) {
    await unrecordedBlobs.abandon(blob, () => blobRecords.exists(tenantId, id));
    throw error;
  }
}
