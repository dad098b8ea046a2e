import { createWriteStream, openAsBlob } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { UploadedFile } from './input';
import type { Download } from './response';

/** A file on disk to upload; it is streamed and never held in memory. */
export const fileFrom = async (path: string): Promise<Required<UploadedFile>> => ({
  file: await openAsBlob(path),
  fileName: basename(path),
  isStreamed: true,
});

/** Writes a download to disk; the file gets its name when it is complete. */
export async function saveTo(download: Download, path: string): Promise<void> {
  const draft = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(download.stream as never), createWriteStream(draft));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
