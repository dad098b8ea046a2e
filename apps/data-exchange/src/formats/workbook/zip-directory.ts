import { UnreadableFile } from '../unreadable-file.ts';

/** A file that can be read at any place; both ends count. */
export interface RandomAccess {
  sizeBytes: number;
  read(start: number, end: number): Promise<Buffer>;
  stream(start: number, end: number): Promise<AsyncIterable<Buffer>>;
}

/** One file inside a zip, as the directory at its end describes it. */
export interface ZipEntry {
  name: string;
  isDeflated: boolean;
  packedBytes: number;
  unpackedBytes: number;
  headerAt: number;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const END_BYTES_MAX = 66_000;
const ENTRY_BYTES = 46;
export const LOCAL_HEADER_BYTES = 30;
const DIRECTORY_BYTES_MAX = 4 * 1024 * 1024;
const ENTRIES_MAX = 5_000;
/** Excel writes names of a few dozen; each is compared with others, and joined with them. */
const NAME_BYTES_MAX = 1_000;
export const UNPACKED_BYTES_MAX = 4 * 1024 ** 3;
const RATIO_MAX = 300;
const RATIO_COUNTS_FROM_BYTES = 50 * 1024 ** 2;
const IN_ZIP64 = 0xffff_ffff;
const ZIP64_FIELD = 1;
const STORED = 0;
const DEFLATED = 8;

/**
 * Reads the directory of a zip before anything is unpacked.
 * @throws UnreadableFile for one that is damaged, encrypted, or unsafe to unpack.
 */
export async function readZipDirectory(file: RandomAccess): Promise<ZipEntry[]> {
  const { sizeBytes } = file;
  const end = await file.read(Math.max(0, sizeBytes - END_BYTES_MAX), sizeBytes - 1);
  const at = end.lastIndexOf(Buffer.from('504b0506', 'hex'));
  if (at < 0 || end.length - at < END_BYTES || end.readUInt32LE(at) !== END_SIGNATURE)
    throw new UnreadableFile('The workbook is truncated.');
  const count = end.readUInt16LE(at + 10);
  const length = end.readUInt32LE(at + 12);
  const start = end.readUInt32LE(at + 16);
  if (count > ENTRIES_MAX || length > DIRECTORY_BYTES_MAX)
    throw new UnreadableFile('The workbook has too many parts.');
  if (start + length > sizeBytes) throw damaged();
  const directory = length === 0 ? Buffer.alloc(0) : await file.read(start, start + length - 1);
  const entries = readEntries(directory, count);
  requireHarmlessNames(entries);
  requireHarmlessSizes(entries);
  requireApart(entries, start);
  return entries;
}

const damaged = () => new UnreadableFile('The workbook is damaged.');

function readEntries(directory: Buffer, count: number): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw damaged();
    if ((directory.readUInt16LE(at + 8) & 1) === 1) throw new UnreadableFile('The workbook is encrypted.');
    const method = directory.readUInt16LE(at + 10);
    if (method !== STORED && method !== DEFLATED)
      throw new UnreadableFile('The workbook is packed in a way that workbooks are not.');
    const nameEnd = at + ENTRY_BYTES + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    if (extraEnd > directory.length) throw damaged();
    const [unpackedBytes, packedBytes, headerAt] = sizesOf(
      directory,
      at,
      directory.subarray(nameEnd, extraEnd),
    );
    entries.push({
      name: directory.toString('utf8', at + ENTRY_BYTES, nameEnd),
      isDeflated: method === DEFLATED,
      packedBytes,
      unpackedBytes,
      headerAt,
    });
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** Sizes and position of an entry; what does not fit 32 bits is in the extra field, in this order. */
function sizesOf(directory: Buffer, at: number, extra: Buffer): [number, number, number] {
  const short = [24, 20, 42].map((offset) => directory.readUInt32LE(at + offset));
  const long = zip64Field(extra);
  let next = 0;
  const [unpacked, packed, header] = short.map((value) => {
    if (value !== IN_ZIP64) return value;
    if (next + 8 > long.length) throw damaged();
    next += 8;
    return Number(long.readBigUInt64LE(next - 8));
  });
  return [unpacked!, packed!, header!];
}

function zip64Field(extra: Buffer): Buffer {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64_FIELD)
      return extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  return Buffer.alloc(0);
}

/** Nothing is ever unpacked by its name, but a file with such names is an attack all the same. */
function requireHarmlessNames(entries: readonly ZipEntry[]): void {
  const names = new Set<string>();
  for (const { name } of entries) {
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      throw new UnreadableFile('The workbook has a part whose name is too long.');
    const isOutside = /^[/\\]|^[a-z]:|\\|\0/i.test(name) || name.split('/').includes('..');
    if (isOutside) throw new UnreadableFile('The workbook names parts outside of itself.');
    if (names.has(name.toLowerCase())) throw new UnreadableFile('The workbook has two parts of one name.');
    names.add(name.toLowerCase());
  }
}

function requireHarmlessSizes(entries: readonly ZipEntry[]): void {
  const sum = (size: (entry: ZipEntry) => number) => entries.reduce((total, entry) => total + size(entry), 0);
  const unpacked = sum(({ unpackedBytes }) => unpackedBytes);
  const packed = sum(({ packedBytes }) => packedBytes);
  const isDense = unpacked > RATIO_COUNTS_FROM_BYTES && unpacked / Math.max(1, packed) > RATIO_MAX;
  if (unpacked > UNPACKED_BYTES_MAX || isDense)
    throw new UnreadableFile('The unpacked workbook is too large.');
}

/** Parts that share bytes are how a small file unpacks to a huge one. */
function requireApart(entries: readonly ZipEntry[], directoryAt: number): void {
  const inOrder = entries.toSorted((left, right) => left.headerAt - right.headerAt);
  for (const [index, { headerAt, name, packedBytes }] of inOrder.entries()) {
    const end = headerAt + LOCAL_HEADER_BYTES + Buffer.byteLength(name) + packedBytes;
    if (end > (inOrder[index + 1]?.headerAt ?? directoryAt))
      throw new UnreadableFile('The parts of the workbook overlap.');
  }
}
