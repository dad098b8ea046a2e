import type { Readable } from 'node:stream';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import { timelineProblems } from '@plinth/contracts/timeline/problems';
import type { Api } from '@plinth/conventions/api';
import { receiveFile } from '@plinth/conventions/receive-file';
import { created, file } from '@plinth/conventions/reply';
import type { Caller } from '@plinth/kernel/caller';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { fileTypeOf, SNIFFED_LENGTH } from '../domain/file-type';
import { blobKey } from '../store/blob-record-store';
import { peek } from './peek';

const { postBlob, getBlob } = timelineEndpoints;

type Needs = Pick<Deps, 'blobs' | 'blobRecords' | 'clock' | 'config'>;

export function mountBlobs(api: Api, { blobs, blobRecords, clock, config }: Needs): void {
  const unattachedMilliseconds = config.BLOB_UNATTACHED_HOURS * 3_600_000;
  const limit = {
    bytesMax: config.BLOB_BYTES_MAX,
    tooLarge: () =>
      timelineProblems['blob-too-large'](`A file to attach may have ${config.BLOB_BYTES_MAX} bytes at most.`),
  };
  /** Stores a file under a new id and puts it on record; one that is refused leaves nothing. */
  const store = async (fileName: string, content: Readable, { tenantId, userId }: Caller) => {
    const { head, whole } = await peek(content, SNIFFED_LENGTH);
    if (head.length === 0) throw invalid({ file: 'NotEmpty' }, 'The file is empty.');
    const mimeType = fileTypeOf(head, fileName);
    if (mimeType === undefined)
      throw timelineProblems['blob-type-not-accepted']('A file of this type cannot be attached.');
    const id = newId();
    const { sizeBytes, sha256 } = await blobs.put(blobKey(tenantId, id), whole);
    const record = {
      tenantId,
      id,
      fileName,
      mimeType,
      sizeBytes: BigInt(sizeBytes),
      sha256,
      uploadedBy: userId,
    };
    const createdAt = clock.now();
    const blob = { ...record, createdAt, checkAt: new Date(createdAt.getTime() + unattachedMilliseconds) };
    await blobRecords.insert(blob).catch(async (error: unknown) => {
      await blobs.delete(blobKey(tenantId, id));
      throw error;
    });
    return { id, fileName, mimeType, sizeBytes, sha256, createdAt: blob.createdAt };
  };

  api.on(postBlob, async ({ request, caller }) => {
    const { taken: blob } = await receiveFile(request, limit, ({ name, content }) =>
      store(name, content, caller),
    );
    return created(blob, `/blobs/${blob.id}`);
  });

  api.on(getBlob, async ({ params: { id }, caller }) => {
    const blob = await blobRecords.find(audienceOf(caller), caller.userId, id);
    if (!blob) throw timelineProblems['blob-not-found']('There is no such file.');
    return file({
      content: await blobs.get(blobKey(caller.tenantId, id)),
      name: blob.fileName,
      type: blob.mimeType,
      sizeBytes: Number(blob.sizeBytes),
    });
  });
}
