import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { cleanUp, cleanUpInterruptedFiles } from '../src/app/clean-up';
import {
  exportFile,
  importFile,
  mappedImport,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

describe('the end of the retention', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const files = ({ tenantId }: Caller, kind: 'exports' | 'imports'): string[] => {
    try {
      return readdirSync(join(exchange.folder, tenantId, kind));
    } catch {
      return [];
    }
  };
  const after = (milliseconds: number) =>
    cleanUp({ ...exchange, clock: { now: () => new Date(Date.now() + milliseconds) } });

  it('deletes the file of an export after its retention, and the download reports that', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const download = () => exchange.as(caller).get(`/exports/jobs/${job.id}/download`);

    await after(7 * DAY_MILLISECONDS - HOUR_MILLISECONDS);
    expect((await download()).status).toBe(200);
    await after(7 * DAY_MILLISECONDS + HOUR_MILLISECONDS);

    const gone = await download();
    expect(gone.status).toBe(410);
    expect(gone.headers.get('content-type')).toContain('application/problem+json');
    expect(gone.body.type).toContain('/problems/export-expired');
    expect(files(caller, 'exports')).toEqual([]);
    expect((await exchange.as(caller).get(`/exports/jobs/${job.id}`)).body.status).toBe('Completed');
  });

  it('cancels uploads that were never executed and deletes their files', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: created } = await upload(exchange, caller, 'code,title\nA,a\n');
    const mapped = await mappedImport(exchange, caller, 'code,title\nA,a\n');

    await after(6 * DAY_MILLISECONDS);
    expect(files(caller, 'imports')).toHaveLength(2);
    await after(8 * DAY_MILLISECONDS);
    await after(9 * DAY_MILLISECONDS);

    expect(files(caller, 'imports')).toEqual([]);
    for (const id of [created.id, mapped]) {
      expect((await http.get(`/imports/${id}`)).body.status).toBe('Cancelled');
      expect((await http.post(`/imports/${id}/execute`)).status).toBe(409);
    }
  });

  it('removes the failed rows of an import after 30 days; its counts stay', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n,b\n');

    await after(30 * DAY_MILLISECONDS - HOUR_MILLISECONDS);
    expect((await http.get(`/imports/${jobId}/correction-file`)).status).toBe(200);
    await after(30 * DAY_MILLISECONDS + HOUR_MILLISECONDS);

    const gone = await http.get(`/imports/${jobId}/correction-file`);
    expect([gone.status, gone.body.type]).toEqual([410, expect.stringContaining('/import-rows-expired')]);
    const { body: report } = await http.get(`/imports/${jobId}/report`);
    expect(report).toMatchObject({ failedRows: 1, insertedRows: 1, rowErrors: [] });
    expect(await exchange.metrics.metrics()).toMatch(
      /plinth_exchange_expired_total\{.*"failed-row".*\} [1-9]/,
    );
  });

  it('forgets ended jobs after a year, when what is kept with them is gone; rows that they wrote stay', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n,b\n');
    const { job } = await exportFile(exchange, caller);
    const paths = [`/imports/${jobId}`, `/exports/jobs/${job.id}`];
    const statuses = async () => Promise.all(paths.map(async (path) => (await http.get(path)).status));

    await after(364 * DAY_MILLISECONDS);
    expect(await statuses()).toEqual([200, 200]);
    await after(366 * DAY_MILLISECONDS);

    expect(await statuses()).toEqual([404, 404]);
    expect((await http.get('/imports')).body.items).toEqual([]);
    expect((await http.get('/exports/jobs')).body.items).toEqual([]);
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([{ code: 'A' }]);
    expect(await exchange.metrics.metrics()).toMatch(/plinth_exchange_expired_total\{.*"job".*\} [1-9]/);
  });

  it('removes what a crashed process left of a file after its retention, and no file', async () => {
    const caller = aCaller();
    await upload(exchange, caller, 'code,title\nA,a\n');
    const folder = join(exchange.folder, '@partial');
    const left = (name: string, hours: number) => {
      const path = join(folder, name);
      writeFileSync(path, 'half of a fi');
      const at = new Date(Date.now() - hours * HOUR_MILLISECONDS);
      utimesSync(path, at, at);
    };
    left('old.partial', 25);
    left('young.partial', 23);

    const after = (hours: number) =>
      cleanUpInterruptedFiles({
        ...exchange,
        config: { ...exchange.config, EXCHANGE_INTERRUPTED_FILE_HOURS: hours },
      });

    await cleanUpInterruptedFiles(exchange);
    expect(readdirSync(folder)).toEqual(['young.partial']);
    await after(22);
    expect(readdirSync(folder)).toEqual([]);
    expect(files(caller, 'imports')).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)]);
  });

  describe('a whole file without a job', () => {
    const later = (hours: number) =>
      cleanUpInterruptedFiles({
        ...exchange,
        clock: { now: () => new Date(Date.now() + hours * HOUR_MILLISECONDS) },
      });
    afterEach(() => jest.restoreAllMocks());

    it('is removed where its process crashed before it made one, and becomes none afterwards', async () => {
      const caller = aCaller();
      const { find } = exchange.owners;
      let goOn = (): void => undefined;
      const asleep = new Promise<void>((resolve) => (goOn = resolve));
      const stored = new Promise<void>((resolve) => {
        jest.spyOn(exchange.owners, 'find').mockImplementation(async (name) => {
          resolve();
          await asleep;
          return find(name);
        });
      });
      const uploading = upload(exchange, caller, 'code,title\nA,a\n');
      await stored;

      await later(23);
      expect(files(caller, 'imports')).toHaveLength(1);
      await later(25);
      expect(files(caller, 'imports')).toEqual([]);
      expect(await exchange.metrics.metrics()).toMatch(
        /plinth_exchange_expired_total\{.*"interrupted-file".*\} [1-9]/,
      );
      goOn();
      expect((await uploading).status).toBe(503);
      expect((await exchange.as(caller).get('/imports')).body.items).toEqual([]);
    });

    it('is removed where it was refused while the blob store was away', async () => {
      const caller = aCaller();
      const away = jest.spyOn(exchange.blobs, 'delete').mockRejectedValue(new Error('S3 is away'));
      expect((await upload(exchange, caller, '%PDF-1.7 …')).status).toBe(415);
      expect(files(caller, 'imports')).toHaveLength(1);
      away.mockRestore();

      await cleanUpInterruptedFiles(exchange);

      expect(files(caller, 'imports')).toEqual([]);
    });

    it('is none where only the answer of the database was lost', async () => {
      const caller = aCaller();
      const { insert } = exchange.imports;
      jest.spyOn(exchange.imports, 'insert').mockImplementationOnce(async (...job) => {
        await insert(...job);
        throw new Error('Connection terminated unexpectedly');
      });
      expect((await upload(exchange, caller, 'code,title\nA,a\n')).status).toBe(503);

      await later(25);

      expect(files(caller, 'imports')).toHaveLength(1);
      const { items } = (await exchange.as(caller).get('/imports')).body;
      expect((await exchange.as(caller).post(`/imports/${items[0].id}/preview`)).status).toBe(200);
    });
  });

  it('deletes the file and the keys that an ended job left, an hour or what is set later', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    // As if the process had died between ending the job and removing its file and keys.
    const { tenantId } = caller;
    const keyBatches = () => exchange.keys.lastBatch(tenantId, jobId, 0);
    await exchange.keys.insert(tenantId, jobId, 0, 1, [[2, 'a'.repeat(32)]]);
    await exchange.imports.cancelBeforeExecution(caller.tenantId, jobId, new Date());
    const start = jest.spyOn(exchange.starter, 'startExport').mockResolvedValue();
    const { body: job } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
    });
    start.mockRestore();
    await exchange.exports.fail(caller.tenantId, job.id, 'The process died.', new Date());
    // Of a version before runs had files of their own.
    await exchange.blobs.put(`${tenantId}/exports/${job.id}`, Readable.from([Buffer.from('A,a')]));

    await after(HOUR_MILLISECONDS / 2);
    expect(files(caller, 'imports')).toEqual([jobId]);
    const clock = { now: () => new Date(Date.now() + 2 * HOUR_MILLISECONDS) };
    await cleanUp({ ...exchange, clock, config: { ...exchange.config, EXCHANGE_ENDED_FILE_HOURS: 3 } });
    expect([files(caller, 'imports'), await keyBatches()]).toEqual([[jobId], 1]);
    await after(2 * HOUR_MILLISECONDS);

    expect([files(caller, 'imports'), await keyBatches()]).toEqual([[], 0]);
    expect(files(caller, 'exports')).toEqual([]);
  });
});
