import { opendir, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file in the blob store, under the key that a service gave it. */
export interface StoredFile {
  key: string;
  bytes: number;
  modifiedAt: Date;
}

/** The blob store as its operator sees it. */
export interface StoredFiles {
  /** All files, some at a time. */
  list(): AsyncGenerator<StoredFile[]>;
  remove(key: string): Promise<void>;
}

const PIECE = 1_000;
/** What a process is still storing, or left when it crashed, which data exchange removes by itself. */
const PARTIAL = '.partial';

/** @param url that of the services (`BLOB_URL`), of a folder or a bucket */
export async function openStoredFiles(url: string): Promise<StoredFiles> {
  const { protocol } = new URL(url);
  if (protocol === 'file:') return filesOfFolder(fileURLToPath(url));
  if (protocol === 's3:') return filesOfBucket(new URL(url));
  throw new Error(`There is no blob store for ${protocol}//; use file:// or s3://.`);
}

function filesOfFolder(folder: string): StoredFiles {
  return {
    async *list() {
      let piece: StoredFile[] = [];
      for await (const entry of await opendir(folder, { recursive: true })) {
        if (!entry.isFile() || entry.name.endsWith(PARTIAL)) continue;
        const path = join(entry.parentPath, entry.name);
        // It may be removed meanwhile.
        const found = await stat(path).catch(() => undefined);
        if (!found) continue;
        const key = relative(folder, path).split(sep).join('/');
        piece.push({ key, bytes: found.size, modifiedAt: found.mtime });
        if (piece.length < PIECE) continue;
        yield piece;
        piece = [];
      }
      if (piece.length > 0) yield piece;
    },
    remove: (key) => rm(join(folder, ...key.split('/')), { force: true }),
  };
}

/** With the address and the credentials of the services (docs/configuration.md). */
async function filesOfBucket({ hostname, pathname, searchParams }: URL): Promise<StoredFiles> {
  const { DeleteObjectCommand, ListObjectsV2Command, S3Client } = await import('@aws-sdk/client-s3');
  const endpoint = searchParams.get('endpoint');
  const client = new S3Client({
    region: searchParams.get('region') ?? 'us-east-1',
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const prefix = pathname
    .split('/')
    .filter((step) => step !== '')
    .map((step) => `${step}/`)
    .join('');
  return {
    async *list() {
      let token: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: hostname, Prefix: prefix, ContinuationToken: token }),
        );
        yield (page.Contents ?? []).flatMap(({ Key, Size = 0, LastModified }) =>
          Key === undefined || LastModified === undefined
            ? []
            : [{ key: Key.slice(prefix.length), bytes: Size, modifiedAt: LastModified }],
        );
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket: hostname, Key: `${prefix}${key}` }));
    },
  };
}
