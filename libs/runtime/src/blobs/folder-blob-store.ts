import { constants, createWriteStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Problem } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { turnsAt } from '../process/fair-places';
import { blobIsGone, blobStoreIsDown, measure, stepsOf } from './blob';
import type { BlobRange, BlobStore } from './blob-store';

const PARTIAL = '.partial';

/** Of the four threads in which Node works on files. */
const FLUSHES_MAX = 2;

/**
 * Keeps files in a folder of the machine, or of a volume that all replicas share. To flush a large file to the disk takes
 * a thread for long, and every small step of other files waits for the same threads: so tenants take turns at it.
 */
export function folderBlobStore(folder: string, flushes = turnsAt(FLUSHES_MAX)): BlobStore {
  const pathOf = (key: string) => join(folder, ...stepsOf(key));

  return {
    async put(key, content) {
      const target = pathOf(key);
      const partial = `${target}.${newId()}${PARTIAL}`;
      const { stream, measured } = measure();
      try {
        await mkdir(dirname(target), { recursive: true });
        await pipeline(content, stream, createWriteStream(partial));
        await flushes.run({ tenantId: stepsOf(key)[0]!, userId: '' }, () => flush(partial));
        await rename(partial, target);
      } catch (error) {
        content.destroy();
        await rm(partial, { force: true }).catch(() => {});
        throw isOfFileSystem(error) ? blobStoreIsDown(error) : error;
      }
      return measured();
    },

    async get(key, range = {}) {
      try {
        return await openPart(pathOf(key), range);
      } catch (error) {
        if (error instanceof Problem) throw error;
        throw isMissing(error) ? blobIsGone() : blobStoreIsDown(error);
      }
    },

    async delete(key) {
      await rm(pathOf(key), { force: true }).catch((error: unknown) => {
        if (!isMissing(error)) throw blobStoreIsDown(error);
      });
    },

    async deleteInterrupted(before) {
      try {
        let count = 0;
        for (const path of await readdir(folder, { recursive: true })) {
          if (!path.endsWith(PARTIAL)) continue;
          // It may be finished or removed meanwhile.
          const file = await stat(join(folder, path)).catch(() => undefined);
          if (!file || file.mtime >= before) continue;
          await rm(join(folder, path), { force: true });
          count++;
        }
        return count;
      } catch (error) {
        if (isMissing(error)) return 0;
        throw blobStoreIsDown(error);
      }
    },

    async check() {
      try {
        await mkdir(folder, { recursive: true });
        await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      } catch (error) {
        throw blobStoreIsDown(error);
      }
    },
  };
}

async function flush(path: string): Promise<void> {
  const file = await open(path);
  await file.sync().finally(() => file.close());
}

async function openPart(path: string, { start = 0, end = Infinity }: BlobRange): Promise<Readable> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const isThere = (await file.stat()).isFile();
  if (isThere && start <= end) return file.createReadStream({ start, end });
  await file.close();
  if (!isThere) throw blobIsGone();
  return Readable.from([]);
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENAMETOOLONG'].includes(String(codeOf(error)));

const ofWriting = ['mkdir', 'open', 'write', 'fsync', 'close', 'rename'];

/** Whether the folder failed, in contrast to the stream that is being stored. */
const isOfFileSystem = (error: unknown): boolean =>
  ofWriting.includes(String((error as NodeJS.ErrnoException).syscall));
