import type { Readable } from 'node:stream';

export interface StoredBlob {
  sizeBytes: number;
  sha256: string;
}

/** The part of a file to read; both ends count. What lies behind the end of the file is not there. */
export interface BlobRange {
  start?: number;
  end?: number;
}

export interface BlobOrigin {
  /** Whether a client sends it, which may take as long as it likes; what services make takes as long as it has to. */
  isSentByClient: boolean;
}

/**
 * Files by key, such as `<tenant>/<kind>/<id>`; no key is the beginning of another. A file is there whole or not at all.
 * @throws Problem `upstream` from every method while the store is not usable.
 */
export interface BlobStore {
  /**
   * Stores a stream under a key; until the stream ends well, what was there before is read under it.
   * @throws Problem `timed-out` for what a client sends very slowly while others wait, where places for that are few;
   * `too-large` for more than the store has room for in one file
   */
  put(key: string, content: Readable, origin?: BlobOrigin): Promise<StoredBlob>;
  /** Opens a file, or a part of it. @throws Problem `gone` when there is none. */
  get(key: string, range?: BlobRange): Promise<Readable>;
  /** Removes a file; one that is not there is removed already. */
  delete(key: string): Promise<void>;
  /**
   * Removes what a crashed process left of files that it was storing, where it was last written before this time.
   * Returns of how many files.
   */
  deleteInterrupted(before: Date): Promise<number>;
  /** Throws while the store is not usable. */
  check(): Promise<void>;
}
