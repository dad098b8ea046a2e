import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Problem } from '@plinth/kernel/problem';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { newId } from '@plinth/kernel/uuid';
import { turnsAt, type FairPlaces } from '../process/fair-places';
import { blobIsGone, blobStoreIsDown, contentOf, measure, stepsOf } from './blob';
import type { BlobRange, BlobStore, StoredBlob } from './blob-store';

const PARTIAL = '.partial';

/**
 * Of the sixteen threads in which our processes work on files (`UV_THREADPOOL_SIZE`). With other steps of files, which are
 * short, at least half of them are free for the rest.
 */
const WRITES_MAX = 6;
const FLUSHES_MAX = 2;

/** For what tenants take turns. */
interface FolderTurns {
  writes?: FairPlaces;
  flushes?: FairPlaces;
}

/**
 * Keeps files in a folder of the machine, or of a volume that all replicas share. To write a piece of a file, and still
 * more to flush a large one to the disk, takes a thread for long, and every small step of other files waits for the same
 * threads: so tenants take turns at it.
 */
export function folderBlobStore(
  folder: string,
  { writes = turnsAt(WRITES_MAX), flushes = turnsAt(FLUSHES_MAX) }: FolderTurns = {},
): BlobStore {
  const pathOf = (key: string) => join(folder, ...stepsOf(key));

  /** Stores what is read in a file, which is on the disk afterwards. */
  const write = async (path: string, owner: ShareOwner, content: Readable): Promise<StoredBlob> => {
    const { stream, measured } = measure();
    const file = await open(path, 'wx');
    try {
      await pipeline(content, stream, async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) await writes.run(owner, () => file.appendFile(piece));
      });
      await flushes.run(owner, () => file.sync());
    } finally {
      await file.close();
    }
    return measured();
  };

  return {
    async put(key, content) {
      const target = pathOf(key);
      const partial = `${target}.${newId()}${PARTIAL}`;
      try {
        await mkdir(dirname(target), { recursive: true });
        const stored = await write(partial, { tenantId: stepsOf(key)[0]!, userId: '' }, content);
        await rename(partial, target);
        return stored;
      } catch (error) {
        content.destroy();
        await rm(partial, { force: true }).catch(() => {});
        throw isOfFileSystem(error) ? blobStoreIsDown(error) : error;
      }
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

async function openPart(path: string, { start = 0, end = Infinity }: BlobRange): Promise<Readable> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const isThere = (await file.stat()).isFile();
  if (isThere && start <= end) return contentOf(file.createReadStream({ start, end }));
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
