import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { FileFormat } from '../formats/file-format';
import { wholeFile } from '../formats/record-index';
import { writeXlsx } from '../formats/xlsx-writer';
import { plainFormat } from '../../test/plain-format';
import { openRange, openRows } from './open-rows';
import { splitIntoRanges, type SplitDependencies } from './split-into-ranges';

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

  it('are not waited for in a range of it', async () => {
    const worker = new AbortController();
    const endless = new Readable({ read: () => undefined });
    const range = { startByte: 10, endByte: 20, recordsBefore: 1 };
    const job = { ...jobOf(plainFormat), headers: ['stock'] };
    const { rows } = await openRange(job, storeOf(endless), range, worker.signal);
    const next = rows.next();
    worker.abort(new Error('stopping'));

    await expect(next).rejects.toThrow('stopping');
    expect(endless.destroyed).toBe(true);
  });

  const executing = {
    ...jobOf(plainFormat),
    status: 'Executing',
    fileSizeBytes: 10,
    cancelRequestedAt: null,
  };

  it('are not waited for while it is split', async () => {
    const worker = new AbortController();
    const endless = new Readable({ read: () => undefined });
    const dependencies = {
      imports: { get: async () => executing },
      owners: { find: async () => ({}) },
      ranges: { list: async () => [] },
      blobs: storeOf(endless),
      config: { EXCHANGE_RANGE_BYTES: 5 },
    } as unknown as SplitDependencies;
    const splitting = splitIntoRanges(dependencies, 'acme', 'job', worker.signal);
    await new Promise(setImmediate);
    worker.abort(new Error('stopping'));

    await expect(splitting).rejects.toMatchObject({ name: 'AbortError' });
    expect(endless.destroyed).toBe(true);
  });

  it('are not split where the import is cancelled', async () => {
    const insert = jest.fn().mockResolvedValue(1);
    const dependencies = {
      imports: { get: async () => ({ ...executing, cancelRequestedAt: new Date() }) },
      owners: { find: async () => ({}) },
      blobs: { get: () => Promise.reject(new Error('The file is read.')) },
      ranges: { insert, list: async () => [] },
      config: { EXCHANGE_RANGE_BYTES: 5 },
    } as unknown as SplitDependencies;

    expect(await splitIntoRanges(dependencies, 'acme', 'job', new AbortController().signal)).toEqual({
      count: 1,
      atOnce: 1,
      keysFirst: false,
    });
    expect(insert).toHaveBeenCalledWith('acme', 'job', [wholeFile]);
  });

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
