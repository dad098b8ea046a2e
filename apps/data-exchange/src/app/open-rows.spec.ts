import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { FileFormat } from '../formats/file-format';
import { writeXlsx } from '../formats/xlsx-writer';
import { plainFormat } from '../../test/plain-format';
import { openRows } from './open-rows';

const jobOf = (format: FileFormat) => ({
  blobKey: 'file',
  format,
  options: { mode: 'upsert', onError: 'continue' } as const,
});
const storeOf = (bytes: Readable) => ({ get: async () => bytes }) as unknown as BlobStore;

describe('the rows of a file whose reader leaves', () => {
  it.each<FileFormat>([plainFormat, { kind: 'xlsx' }])(
    'are not waited for while it is fetched: %j',
    async (format) => {
      const client = new AbortController();
      const endless = new Readable({ read: () => undefined });
      const opening = openRows(jobOf(format), storeOf(endless), { signal: client.signal });
      client.abort(new Error('gone'));

      await expect(opening).rejects.toThrow('gone');
      expect(endless.destroyed).toBe(true);
    },
  );

  it('are read no further from a workbook', async () => {
    const rows = Array.from({ length: 40_000 }, (_, index) => [String(index)]);
    const columns = [{ property: 'stock', header: 'Stock', type: 'number' } as const];
    const workbook = await buffer(writeXlsx(columns, Readable.from([rows])));
    const client = new AbortController();
    const file = await openRows(jobOf({ kind: 'xlsx' }), storeOf(Readable.from([workbook])), {
      signal: client.signal,
    });
    await file.rows.next();
    client.abort(new Error('gone'));
    const rest = async () => {
      for await (const _ of file.rows);
    };

    await expect(rest()).rejects.toThrow('gone');
  });
});
