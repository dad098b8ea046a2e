import { createInflateRaw } from 'node:zlib';
import { Readable } from 'node:stream';
import { UnreadableFile } from '../unreadable-file.ts';
import { LOCAL_HEADER_BYTES, type RandomAccess, type ZipEntry } from './zip-directory.ts';

const LOCAL_SIGNATURE = 0x04034b50;

/**
 * The bytes of one part, unpacked while they are read.
 * @throws UnreadableFile where they differ from the directory: its sizes may be forged.
 */
export async function* readZipPart(file: RandomAccess, entry: ZipEntry): AsyncGenerator<Buffer> {
  const { headerAt, packedBytes, unpackedBytes, isDeflated } = entry;
  const header = await file.read(headerAt, headerAt + LOCAL_HEADER_BYTES - 1);
  if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE) throw damaged();
  const start = headerAt + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (packedBytes === 0) return;
  const packed = await file.stream(start, start + packedBytes - 1);
  let unpacked = 0;
  try {
    for await (const chunk of isDeflated ? inflated(packed) : packed) {
      unpacked += chunk.length;
      if (unpacked > unpackedBytes) throw damaged();
      yield chunk;
    }
  } catch (error) {
    throw String((error as { code?: unknown }).code).startsWith('Z_') ? damaged() : error;
  }
}

const damaged = () => new UnreadableFile('The workbook is damaged.');

async function* inflated(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = Readable.from(packed, { objectMode: false });
  const inflate = createInflateRaw();
  source.on('error', (error) => inflate.destroy(error));
  try {
    yield* source.pipe(inflate) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    inflate.destroy();
  }
}
