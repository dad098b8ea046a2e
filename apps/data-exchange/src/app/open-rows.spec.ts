import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { ByteBudget } from '@plinth/runtime/process/byte-budget';
import type { FileFormat } from '../formats/file-format';
import { wholeFile } from '../formats/record-index';
import { UNPACKED_BYTES_MAX } from '../formats/workbook/zip-directory';
import { writeXlsx } from '../formats/xlsx-writer';
import { aRawWorkbook, header, inlineCell, sheetOf, stringsOf } from '../../test/a-zip';
import { plainFormat } from '../../test/plain-format';
import { DataExchangeConfig } from '../config';
import { openRange, openRows, SCRATCH_SHARES } from './open-rows';
import { splitIntoRanges, type SplitDependencies } from './split-into-ranges';

const jobOf = (format: FileFormat, { tenantId = 'acme', fileSizeBytes = 10 } = {}) => ({
  tenantId,
  blobKey: 'file',
  fileSizeBytes,
  format,
  options: { mode: 'upsert', onError: 'continue' } as const,
});
const storeOf = (bytes: Readable) => ({ get: async () => bytes }) as unknown as BlobStore;
const sourceOf = (blobs: BlobStore, bytesMax = 1_000_000) => ({ blobs, scratch: new ByteBudget(bytesMax) });

/** A store of one file, which counts how often all of it is asked for. */
function aStoreOf(bytes: Buffer) {
  const get = jest.fn(async (_key: string, range?: { start: number; end?: number }) =>
    Readable.from([bytes.subarray(range?.start, range?.end === undefined ? undefined : range.end + 1)]),
  );
  const wholeReads = () => get.mock.calls.filter(([, range]) => range === undefined).length;
  return { get, blobs: { get } as unknown as BlobStore, wholeReads };
}

describe('the rows of a file whose reader leaves', () => {
  it.each<FileFormat>([plainFormat, { kind: 'xlsx' }])(
    'are not waited for while it is fetched: %j',
    async (format) => {
      const client = new AbortController();
      const endless = new Readable({ read: () => undefined });
      const opening = openRows(jobOf(format), sourceOf(storeOf(endless)), { signal: client.signal });
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
    const { rows } = await openRange(job, sourceOf(storeOf(endless)), range, worker.signal);
    const next = rows.next();
    worker.abort(new Error('stopping'));

    await expect(next).rejects.toThrow('stopping');
    expect(endless.destroyed).toBe(true);
  });

  const executing = {
    ...jobOf(plainFormat),
    status: 'Executing',
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
    const job = jobOf({ kind: 'xlsx' }, { fileSizeBytes: workbook.length });
    const file = await openRows(job, sourceOf(aStoreOf(workbook).blobs), { signal: client.signal });
    await file.rows.next();
    client.abort(new Error('gone'));
    const rest = async () => {
      for await (const _ of file.rows);
    };

    await expect(rest()).rejects.toThrow('gone');
  });
});

describe('the files of workbooks that are read', () => {
  const texts = stringsOf(`<si><t>${'a'.repeat(20_000)}</t></si>`);
  // More than what is read at once to find its table, after which the files of a small one are gone.
  const rows = Array.from(
    { length: 3_000 },
    (_, at) => `<row r="${at + 2}">${inlineCell(`A${at + 2}`, 'A')}</row>`,
  );
  const sheet = sheetOf(header + rows.join(''));
  const workbook = aRawWorkbook({ 'xl/sharedStrings.xml': texts, 'xl/worksheets/sheet1.xml': sheet });
  const BYTES = workbook.length + texts.length;

  const anUpload = (content: Buffer, bytesMax: number) => {
    const store = aStoreOf(content);
    const source = sourceOf(store.blobs, bytesMax);
    const open = (tenantId: string, signal?: AbortSignal, sheet?: string) =>
      openRows(jobOf({ kind: 'xlsx' }, { tenantId, fileSizeBytes: content.length }), source, {
        signal,
        sheet,
      });
    return { open, ...store, ...source };
  };

  it('have no more bytes together than there are, and what they had is there for others once they are closed', async () => {
    const { open, scratch, wholeReads } = anUpload(workbook, 2 * BYTES - 1);
    const first = await open('acme');
    expect(scratch.usedBytes).toBe(BYTES);
    const refusal = { kind: 'overloaded', options: { retryAfterSeconds: 10 } };
    await expect(open('other')).rejects.toMatchObject(refusal);
    expect(wholeReads()).toBe(1);

    await first.close();
    const next = await open('other');
    await next.close();
  });

  it('have all that a workbook takes before any of it is read, so that no two wait for what the other has', async () => {
    const { open, scratch } = anUpload(workbook, 2 * BYTES - 1);
    const opened = await Promise.allSettled(['acme', 'other'].map((tenantId) => open(tenantId)));
    expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
    expect(scratch.usedBytes).toBe(0);
  });

  it('are refused for good where one workbook has more than there may be of all', async () => {
    const { open, scratch, wholeReads } = anUpload(workbook, BYTES - 1);
    await expect(open('acme')).rejects.toMatchObject({
      slug: 'import-file-unreadable',
      detail: `The workbook, which has ${BYTES} bytes with its texts, has more than the ${BYTES - 1} that can be read.`,
    });
    expect([scratch.usedBytes, wholeReads()]).toEqual([0, 0]);
  });

  it('have room for the largest upload with the most texts, where nothing else is configured', () => {
    const { EXCHANGE_SCRATCH_BYTES_MAX, EXCHANGE_UPLOAD_BYTES_MAX } = DataExchangeConfig.shape;
    const [scratch, upload] = [EXCHANGE_SCRATCH_BYTES_MAX, EXCHANGE_UPLOAD_BYTES_MAX].map((one) =>
      one.parse(undefined),
    );
    const largest = upload! + UNPACKED_BYTES_MAX;
    const budget = new ByteBudget(scratch!, SCRATCH_SHARES);
    const refusals = ['acme', 'acme', 'other'].map((tenantId) =>
      budget.reserve({ tenantId, userId: '' }).grow(largest),
    );
    expect(refusals).toEqual([undefined, undefined, undefined]);
  });

  describe('are given back', () => {
    const rest = async (rows: AsyncIterable<unknown>) => {
      for await (const _ of rows);
    };
    const cut = sheet.slice(0, -30);
    const broken = aRawWorkbook({ 'xl/sharedStrings.xml': texts, 'xl/worksheets/sheet1.xml': cut });

    it('where all rows are read', async () => {
      const { open, scratch } = anUpload(workbook, BYTES);
      await rest((await open('acme')).rows);
      expect(scratch.usedBytes).toBe(0);
    });

    it.each([
      ['the rows are damaged', broken, undefined],
      ['there is no such sheet', workbook, 'None'],
      ['the file is no workbook', workbook.subarray(0, -30), undefined],
    ])('where %s', async (_what, content, sheet) => {
      const { open, scratch } = anUpload(content, 1_000_000);
      const reading = async () => rest((await open('acme', undefined, sheet)).rows);
      await expect(reading()).rejects.toMatchObject({ slug: 'import-file-unreadable' });
      expect(scratch.usedBytes).toBe(0);
    });

    it('where its client leaves', async () => {
      const { open, scratch } = anUpload(workbook, BYTES);
      const client = new AbortController();
      const { rows } = await open('acme', client.signal);
      client.abort(new Error('gone'));
      await rest(rows).catch(() => undefined);
      expect(scratch.usedBytes).toBe(0);
    });

    it('where the store of files fails', async () => {
      const { open, scratch, get } = anUpload(workbook, BYTES);
      const read = get.getMockImplementation()!;
      get.mockImplementation(async (key, range) => {
        if (!range) throw new Error('away');
        return read(key, range);
      });
      await expect(open('acme')).rejects.toThrow('away');
      expect(scratch.usedBytes).toBe(0);
    });
  });
});
