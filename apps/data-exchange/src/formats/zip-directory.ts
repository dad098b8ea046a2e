import type { BlobStore } from '@plinth/runtime/blob-store';
import { UnreadableFile } from './csv-reader';

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES_MAX = 66_000;
const DIRECTORY_BYTES_MAX = 4 * 1024 * 1024;
const ENTRIES_MAX = 5_000;
const UNPACKED_BYTES_MAX = 4 * 1024 ** 3;
const RATIO_MAX = 300;
const RATIO_COUNTS_FROM_BYTES = 50 * 1024 ** 2;

/**
 * Looks at the directory of a zip before anybody unpacks it.
 * Answers whether it is a workbook. @throws UnreadableFile for a damaged, encrypted or suspiciously dense one.
 */
export async function isWorkbook(blobs: BlobStore, key: string, sizeBytes: number): Promise<boolean> {
  const end = await read(blobs, key, Math.max(0, sizeBytes - END_BYTES_MAX), sizeBytes - 1);
  const at = end.lastIndexOf(Buffer.from('504b0506', 'hex'));
  if (at < 0 || end.length - at < 22 || end.readUInt32LE(at) !== END_SIGNATURE)
    throw new UnreadableFile('The workbook is cut off.');
  const count = end.readUInt16LE(at + 10);
  const length = end.readUInt32LE(at + 12);
  const start = end.readUInt32LE(at + 16);
  if (count > ENTRIES_MAX || length > DIRECTORY_BYTES_MAX)
    throw new UnreadableFile('The workbook has too many parts.');
  if (start + length > sizeBytes) throw new UnreadableFile('The workbook is damaged.');
  const directory = length === 0 ? Buffer.alloc(0) : await read(blobs, key, start, start + length - 1);
  const names = readEntries(directory, count);
  return names.includes('xl/workbook.xml') || names.some((name) => name.startsWith('xl/worksheets/'));
}

function readEntries(directory: Buffer, count: number): string[] {
  const names: string[] = [];
  let packed = 0;
  let unpacked = 0;
  let position = 0;
  for (let entry = 0; entry < count; entry++) {
    if (position + 46 > directory.length || directory.readUInt32LE(position) !== ENTRY_SIGNATURE) {
      throw new UnreadableFile('The workbook is damaged.');
    }
    if ((directory.readUInt16LE(position + 8) & 1) === 1)
      throw new UnreadableFile('The workbook is encrypted.');
    packed += directory.readUInt32LE(position + 20);
    unpacked += directory.readUInt32LE(position + 24);
    const nameLength = directory.readUInt16LE(position + 28);
    names.push(directory.toString('utf8', position + 46, position + 46 + nameLength));
    position +=
      46 + nameLength + directory.readUInt16LE(position + 30) + directory.readUInt16LE(position + 32);
  }
  const isDense = unpacked > RATIO_COUNTS_FROM_BYTES && unpacked / Math.max(1, packed) > RATIO_MAX;
  if (unpacked > UNPACKED_BYTES_MAX || isDense)
    throw new UnreadableFile('The workbook unpacks to more than a workbook may hold.');
  return names;
}

async function read(blobs: BlobStore, key: string, start: number, end: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await blobs.get(key, { start, end })) as AsyncIterable<Buffer>)
    chunks.push(chunk);
  return Buffer.concat(chunks);
}
