import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { receiveFile } from '@plinth/http/receive-file';
import { created, file, type FilePart } from '@plinth/http/response';
import { entityTag } from '@plinth/kernel/entity-tag';
import { requireRoomForBlob, saveBlob } from '../app/save-blob';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { blobNotFound, blobTooLarge } from '../domain/problems';
import { blobKey, type BlobRecord } from '../store/blob-record-store';

const { postBlob, getBlobs, getBlob } = timelineEndpoints;

type Needs = Pick<Deps, 'blobs' | 'unrecordedBlobs' | 'blobRecords' | 'clock' | 'config' | 'uploadTurns'>;

export function mountBlobs(api: Api, deps: Needs): void {
  const { blobs, blobRecords, config } = deps;
  const bytesMax = config.BLOB_BYTES_MAX;
  const limit = { bytesMax, tooLarge: () => blobTooLarge(bytesMax), turns: deps.uploadTurns };

  api.on(postBlob, async ({ request, caller }) => {
    // Before anything is stored; whether there is room beside other uploads is known when this one ended.
    requireRoomForBlob(config.BLOB_TENANT_BYTES_MAX, await blobRecords.storedBytes(caller.tenantId));
    const { result: blob } = await receiveFile(request, caller, limit, ({ name, content }) =>
      saveBlob(deps, name, content, caller),
    );
    return created(blob, `/blobs/${blob.id}`);
  });

  api.on(getBlobs, async ({ query: { ids }, caller }) => {
    const found = await blobRecords.list(audienceOf(caller), caller.userId, ids);
    const byId = new Map(found.map((blob) => [blob.id, blob]));
    return ids.flatMap((id) => {
      const blob = byId.get(id);
      return blob ? [toBlobInfo(blob)] : [];
    });
  });

  api.on(getBlob, async ({ params: { id }, caller }) => {
    const blob = await blobRecords.find(audienceOf(caller), caller.userId, id);
    if (!blob) throw blobNotFound();
    const open = (part?: FilePart) => blobs.get(blobKey(caller.tenantId, id), part);
    const content = { sizeBytes: Number(blob.sizeBytes), open };
    return file({ content, name: blob.fileName, type: blob.mimeType }, { etag: entityTag(id) });
  });
}

const toBlobInfo = ({ id, fileName, mimeType, sizeBytes, sha256, createdAt }: BlobRecord) => ({
  id,
  fileName,
  mimeType,
  sizeBytes: Number(sizeBytes),
  sha256,
  createdAt,
});
