import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const localLength = 30;

/**
 * Unpacks a zip archive; bare systems have no program for that. Archives beyond 4 GB and encrypted ones are not read.
 * @param {Buffer} archive
 * @param {string} folder
 * @param {(name: string) => boolean} isProgram which files may be executed: archives of Go do not say
 */
export function unpackZip(archive, folder, isProgram) {
  let end = archive.length - endLength;
  while (end >= 0 && archive.readUInt32LE(end) !== endSignature) end--;
  if (end < 0) throw new Error('is not a zip archive');
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (archive.readUInt32LE(at) !== entrySignature) throw new Error('is a broken zip archive');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + entryLength, at + entryLength + nameLength);
    const file = resolve(folder, name);
    if (!file.startsWith(resolve(folder) + sep)) throw new Error(`has a file outside of it: ${name}`);
    if (!name.endsWith('/')) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contentOf(archive, at));
      if (isProgram(name)) chmodSync(file, 0o755);
    }
    at += entryLength + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
}

/** @param {Buffer} archive @param {number} entry */
function contentOf(archive, entry) {
  const isDeflated = archive.readUInt16LE(entry + 10) === 8;
  const length = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  const names = archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(local + localLength + names, local + localLength + names + length);
  return isDeflated ? inflateRawSync(content) : content;
}
