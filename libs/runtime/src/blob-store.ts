import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Problem } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';

export interface StoredBlob {
  sizeBytes: number;
  sha256: string;
}

/** Files by key, such as `<tenant>/<kind>/<id>`. A file is there whole or not at all. */
export interface BlobStore {
  /** Stores a stream under a key; until the stream ends well, nothing can be read under it. */
  put(key: string, content: Readable): Promise<StoredBlob>;
  /** Opens a file, from `start` where given. @throws Problem `gone` when there is none. */
  get(key: string, options?: { start?: number; end?: number }): Promise<Readable>;
  /** Removes a file; one that is not there is removed already. */
  delete(key: string): Promise<void>;
  /** Throws while the store is not usable. */
  check(): Promise<void>;
}

/** Opens the blob store of a URL: `file:///folder`. */
export function openBlobStore(url: string): BlobStore {
  const { protocol } = new URL(url);
  if (protocol === 'file:') return folderBlobStore(fileURLToPath(url));
  throw new Error(`There is no blob store for ${protocol}//; use file://.`);
}

function folderBlobStore(folder: string): BlobStore {
  const pathOf = (key: string) => join(folder, ...key.split('/').map(encodeURIComponent));

  return {
    async put(key, content) {
      const target = pathOf(key);
      const partial = `${target}.${newId()}.partial`;
      const hash = createHash('sha256');
      let sizeBytes = 0;
      const measure = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          sizeBytes += chunk.length;
          done(null, chunk);
        },
      });
      try {
        await mkdir(dirname(target), { recursive: true });
        await pipeline(content, measure, createWriteStream(partial, { flush: true }));
        await rename(partial, target);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      return { sizeBytes, sha256: hash.digest('hex') };
    },

    async get(key, options) {
      const path = pathOf(key);
      const found = await stat(path).catch(() => undefined);
      if (!found) throw new Problem('gone', 'The file is no longer there.');
      return createReadStream(path, options);
    },

    async delete(key) {
      await rm(pathOf(key), { force: true });
    },

    async check() {
      await mkdir(folder, { recursive: true });
    },
  };
}
