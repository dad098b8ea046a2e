import { fileURLToPath } from 'node:url';
import type { BlobStore } from './blob-store';
import { folderBlobStore } from './folder-blob-store';
import { s3BlobStore } from './s3-blob-store';

/**
 * Opens the blob store of a URL: `file:///folder`, or `s3://bucket/prefix?endpoint=https://…&region=…` with
 * the credentials where every S3 client looks for them. Keys are the same in both.
 */
export function openBlobStore(url: string): BlobStore {
  const { protocol } = new URL(url);
  if (protocol === 'file:') return folderBlobStore(fileURLToPath(url));
  if (protocol === 's3:') return s3BlobStore(new URL(url));
  throw new Error(`There is no blob store for ${protocol}//; use file:// or s3://.`);
}
