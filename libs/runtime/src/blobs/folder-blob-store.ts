import { constants } from 'node:fs';
import { access, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '@plinth/kernel/problem';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { newId } from '@plinth/kernel/uuid';
import { turnsAt, type FairPlaces } from '../process/fair-places';
import { blobIsGone, blobStoreIsDown, contentOf, measure, stepsOf } from './blob';
import type { BlobRange, BlobStore, StoredBlob } from './blob-store';

const PARTIAL = '.partial';
/** Where files are until they are whole. No step of a key has this name. */
const PARTIAL_FOLDER = '@partial';
/** So many names are read of a folder, and looked at, in one turn of the event loop. */
const NAMES_TOGETHER = 256;

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
  const partialFolder = join(folder, PARTIAL_FOLDER);
  const openedAt = Date.now();
  // Versions before this one had such files beside the others. All of the folder is searched for those that are older than
  // a time later than this one.
  let isSearchedTo = -Infinity;

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
      const partial = join(partialFolder, `${newId()}${PARTIAL}`);
      try {
        await mkdir(partialFolder, { recursive: true });
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
        const isSearch = before.getTime() > isSearchedTo;
        // Processes of the version before may run beside this one for a while.
        let youngestAt = before.getTime() > openedAt ? undefined : openedAt;
        for await (const path of pathsIn(isSearch ? folder : partialFolder)) {
          if (!path.endsWith(PARTIAL)) continue;
          // It may be finished or removed meanwhile.
          const file = await stat(path).catch(() => undefined);
          if (!file) continue;
          if (file.mtime >= before) {
            if (dirname(path) !== partialFolder) youngestAt = Math.max(youngestAt ?? 0, file.mtimeMs);
            continue;
          }
          await rm(path, { force: true });
          count++;
        }
        if (isSearch) isSearchedTo = youngestAt ?? Infinity;
        return count;
      } catch (error) {
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

/**
 * The files in a folder and in those in it, of which there are none where it is not there. However many there are, others
 * have their turn between steps: `readdir` lists all of them in one.
 */
async function* pathsIn(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder, { bufferSize: NAMES_TOGETHER }).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (!opened) return;
  let count = 0;
  for await (const entry of opened) {
    count++;
    if (count % NAMES_TOGETHER === 0) await nextTurn();
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pathsIn(path);
    else yield path;
  }
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENAMETOOLONG'].includes(String(codeOf(error)));

const ofWriting = ['mkdir', 'open', 'write', 'fsync', 'close', 'rename'];

/** Whether the folder failed, in contrast to the stream that is being stored. */
const isOfFileSystem = (error: unknown): boolean =>
  ofWriting.includes(String((error as NodeJS.ErrnoException).syscall));
