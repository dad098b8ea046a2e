import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { fetchFile } from '../servers/fetch-file.mjs';
import { unpackZip } from '../servers/zip-archive.mjs';

describe('what the launcher downloads', () => {
  const file = Buffer.from('a program');
  const checksum = createHash('sha256').update(file).digest('hex');
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((_request, response) => response.end(file)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/program`;
  });
  afterAll(() => server.close());

  it('is taken when it has the checksum that the repository knows', async () => {
    expect(await fetchFile([url], checksum)).toEqual(file);
  });

  it('is refused when it has another one', async () => {
    await expect(
      fetchFile(
        [url],
        checksum.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      ),
    ).rejects.toThrow(`its checksum is ${checksum}`);
  });
});

describe('unpackZip', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-zip-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('unpacks files, compressed or not, and lets programs run', () => {
    unpackZip(zipOf({ 'go/bin/go': 'program', 'go/VERSION': 'go1' }), folder, (name) =>
      name.includes('/bin/'),
    );

    expect(readFileSync(join(folder, 'go/VERSION'), 'utf8')).toBe('go1');
    expect(readFileSync(join(folder, 'go/bin/go'), 'utf8')).toBe('program');
    expect(() => accessSync(join(folder, 'go/bin/go'), constants.X_OK)).not.toThrow();
  });

  it('refuses a file outside of its folder', () => {
    expect(() => unpackZip(zipOf({ '../evil': 'x' }), folder, () => false)).toThrow('outside');
  });
});

/** A zip archive; every second file is compressed. */
function zipOf(files: Record<string, string>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  for (const [index, [name, text]] of Object.entries(files).entries()) {
    const content = index % 2 === 0 ? deflateRawSync(text) : Buffer.from(text);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(index % 2 === 0 ? 8 : 0, 4);
    shared.writeUInt32LE(crc32(text), 10);
    shared.writeUInt32LE(content.length, 14);
    shared.writeUInt32LE(text.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const offset = Buffer.alloc(14);
    offset.writeUInt32LE(Buffer.concat(locals).length, 10);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), shared, Buffer.from(name), content);
    entries.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, offset, Buffer.from(name));
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(Buffer.concat(locals).length, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
