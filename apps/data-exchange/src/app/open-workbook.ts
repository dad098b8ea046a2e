import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { readWorkbookParts, type WorkbookParts } from '../formats/workbook/workbook-parts';

/** The parts of an uploaded workbook, of which little is read; undefined for a zip that is none. @throws UnreadableFile */
export function openWorkbook(
  blobs: Pick<BlobStore, 'get'>,
  { blobKey, sizeBytes }: { blobKey: string; sizeBytes: number },
): Promise<WorkbookParts | undefined> {
  const stream = (start: number, end: number): Promise<Readable> => blobs.get(blobKey, { start, end });
  const read = async (start: number, end: number) => buffer(await stream(start, end));
  return readWorkbookParts({ sizeBytes, stream, read });
}
