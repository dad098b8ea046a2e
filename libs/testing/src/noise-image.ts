import { randomBytes } from 'node:crypto';

const HEADER_BYTES = 54;
const BYTES_PER_PIXEL = 3;

/** An image as an address: a bitmap of random pixels, which nothing makes smaller. @param width a multiple of four */
export function noiseImage(width: number): string {
  const pixels = randomBytes(width * width * BYTES_PER_PIXEL);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('BM');
  header.writeUInt32LE(HEADER_BYTES + pixels.length, 2);
  header.writeUInt32LE(HEADER_BYTES, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(width, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(8 * BYTES_PER_PIXEL, 28);
  return `data:image/bmp;base64,${Buffer.concat([header, pixels]).toString('base64')}`;
}
