import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { folderBlobStore } from './folder-blob-store';
import { s3BlobStore } from './s3-blob-store';

export interface StoredBlob {
  sizeBytes: number;
  sha256: string;
}

/** The part of a file to read; both ends count. What lies behind the end of the file is not there. */
export interface BlobRange {
  start?: number;
  end?: number;
}

/**
 * Files by key, such as `<tenant>/<kind>/<id>`; no key is the beginning of another. A file is there whole or not at all.
 * @throws Problem `upstream` from every method while the store is not usable.
 */
export interface BlobStore {
  /** Stores a stream under a key; until the stream ends well, what was there before is read under it. */
  put(key: string, content: Readable): Promise<StoredBlob>;
  /** Opens a file, or a part of it. @throws Problem `gone` when there is none. */
  get(key: string, range?: BlobRange): Promise<Readable>;
  /** Removes a file; one that is not there is removed already. */
  delete(key: string): Promise<void>;
  /** Throws while the store is not usable. */
  check(): Promise<void>;
}

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
