import { copyFile, mkdir, opendir, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** What a process is still storing (libs/runtime/src/blobs/folder-blob-store.ts). */
const PARTIAL = '.partial';
const PARTIAL_FOLDER = '@partial';

/**
 * Copies the files of a blob store that is a folder, while services store and remove some; returns how many. What was copied
 * before is not copied again, and what was removed since then stays in the copy.
 */
export async function copyFiles(from: string, to: string): Promise<number> {
  let count = 0;
  for await (const path of filesIn(from))
    if (await copyUnlessThere(path, join(to, relative(from, path)))) count++;
  return count;
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await whereFound(opendir(folder));
  if (!entries) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== PARTIAL_FOLDER) yield* filesIn(path);
    if (entry.isFile() && !entry.name.endsWith(PARTIAL)) yield path;
  }
}

/** A copy has the time of its file, unless it is not whole. @returns false where it is there, or the file is gone */
async function copyUnlessThere(from: string, to: string): Promise<boolean> {
  const [file, copy] = await Promise.all([whereFound(stat(from)), whereFound(stat(to))]);
  if (!file) return false;
  if (copy?.size === file.size && copy.mtime.getTime() === file.mtime.getTime()) return false;
  await mkdir(dirname(to), { recursive: true });
  if ((await whereFound(copyFile(from, to).then(() => true))) === undefined) return false;
  await utimes(to, file.atime, file.mtime);
  return true;
}

/** Undefined for what was removed meanwhile. */
const whereFound = <Result>(found: Promise<Result>): Promise<Result | undefined> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
