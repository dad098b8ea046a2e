import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { unavailable } from '@plinth/kernel/problem';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { unrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { cleanUp, cleanUpInterruptedFiles } from '../src/app/clean-up';
import { runExport } from '../src/app/run-export';
import { openEvents } from './open-events';
import { startDataExchange, type DataExchange } from './start-data-exchange';

/** A store that takes all of a file, and says that it is stored when it is told to. */
function heldStore(blobs: BlobStore) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const put: BlobStore['put'] = async (key, content) => {
    const stored = await blobs.put(key, content);
    await released;
    return stored;
  };
  return { blobs: { ...blobs, put }, release };
}

/** A store that takes all of a file, and stores it when it is told to. */
function lateStore(blobs: BlobStore) {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const put: BlobStore['put'] = async (key, content) => {
    const bytes = await buffer(content);
    taken.resolve();
    await released.promise;
    return blobs.put(key, Readable.from([bytes]));
  };
  return { blobs: { ...blobs, put }, taken: taken.promise, release: released.resolve };
}

/** A store that stores a file and is away then, also when it is asked to delete files, as often as this. */
function brieflyAway(blobs: BlobStore, deletions: number): BlobStore {
  const away = { put: 1, delete: deletions };
  const requireThere = (method: keyof typeof away) => {
    if (away[method]-- > 0) throw unavailable('The blob store does not respond.');
  };
  return {
    ...blobs,
    async put(key, content) {
      const stored = await blobs.put(key, content);
      requireThere('put');
      return stored;
    },
    async delete(key) {
      requireThere('delete');
      await blobs.delete(key);
    },
  };
}

describe('an export', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it.each(['csv', 'xlsx', 'json'])(
    'tells the writing of its rows from the end of its file (%s)',
    async (format) => {
      const caller = aCaller();
      const http = exchange.as(caller);
      const { body: queued } = await http.post('/exports/jobs', {
        definitionName: 'Shop.Articles',
        format,
      });
      expect(queued).toMatchObject({ status: 'Queued', phase: null });
      const read = async () => (await http.get(`/exports/jobs/${queued.id}`)).body;
      const events = await openEvents(http.address('GET', `/exports/jobs/${queued.id}/events`));
      const { blobs, release } = heldStore(exchange.blobs);
      const { signal } = new AbortController();

      await exchange.shop.query('BEGIN');
      await exchange.shop.query('LOCK TABLE article IN ACCESS EXCLUSIVE MODE');
      const run = runExport({ ...exchange, blobs }, caller.tenantId, queued.id, signal);
      try {
        await events.readTo('"phase":"WritingRows"');
        expect(await read()).toMatchObject({ status: 'Exporting', phase: 'WritingRows' });
      } finally {
        await exchange.shop.query('ROLLBACK');
      }
      await events.readTo('"phase":"FinishingFile"');
      expect(await read()).toMatchObject({ status: 'Exporting', phase: 'FinishingFile' });

      release();
      await run;
      await events.readTo('event: end');
      expect(await read()).toMatchObject({ status: 'Completed', phase: null });
    },
  );

  it('has the file of the run that ended it, whatever a run stores later that only seemed dead', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const addArticle = (code: string) =>
      exchange.shop.query(
        'INSERT INTO article (tenant_id, id, code, title) VALUES ($1, gen_random_uuid(), $2, $2)',
        [caller.tenantId, code],
      );
    await addArticle('A');
    const { body: job } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
      selectedFields: ['code'],
    });
    const { signal } = new AbortController();
    const { blobs, taken, release } = lateStore(exchange.blobs);
    const late = runExport({ ...exchange, blobs }, caller.tenantId, job.id, signal);
    await taken;
    await addArticle('B');

    await runExport(exchange, caller.tenantId, job.id, signal);
    release();
    await late;

    const { text, headers } = await http.get(`/exports/jobs/${job.id}/download`);
    expect(text.replace('\ufeff', '')).toBe('Code\r\nA\r\nB\r\n');
    expect(Number(headers.get('content-length'))).toBe(Buffer.byteLength('\ufeffCode\r\nA\r\nB\r\n'));
    expect(readdirSync(join(exchange.folder, caller.tenantId, 'exports'))).toHaveLength(1);
  });

  it('that takes longer than what was interrupted is kept ends with its file', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const http = exchange.as(caller);
    const { body: job } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
    });
    const { blobs, taken, release } = lateStore(exchange.blobs);
    const ofTenant = (statement: string) =>
      exchange.db.inTenant(tenantId, (tx) => tx.$queryRawUnsafe<object[]>(statement));
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    try {
      const run = runExport({ ...exchange, blobs }, tenantId, job.id, new AbortController().signal);
      await taken;
      await ofTenant(`UPDATE unrecorded_blob SET since = since - interval '2 days'`);
      jest.advanceTimersByTime(600_000);
      await eventually(
        async () =>
          (await ofTenant(`SELECT FROM unrecorded_blob WHERE since > now() - interval '1 day'`)).length > 0,
      );
      await cleanUpInterruptedFiles(exchange);
      release();
      await run;
    } finally {
      jest.useRealTimers();
    }

    expect((await http.get(`/exports/jobs/${job.id}`)).body).toMatchObject({ status: 'Completed' });
    expect((await http.get(`/exports/jobs/${job.id}/download`)).status).toBe(200);
  });

  it.each([1, 2])(
    'leaves no file for ever where the blob store was away while runs followed each other (%d deletions)',
    async (deletions) => {
      const caller = aCaller();
      const { tenantId } = caller;
      const http = exchange.as(caller);
      const { body: job } = await http.post('/exports/jobs', {
        definitionName: 'Shop.Articles',
        format: 'csv',
      });
      const blobs = brieflyAway(exchange.blobs, deletions);
      const deps = { ...exchange, blobs, unrecordedBlobs: unrecordedBlobs(exchange.db, blobs) };
      const download = () => http.get(`/exports/jobs/${job.id}/download`);
      const files = () => readdirSync(join(exchange.folder, tenantId, 'exports'));
      // As an activity that fails is tried again.
      let attempts = 0;
      while ((await download()).status !== 200 && attempts++ < 5)
        await runExport(deps, tenantId, job.id, new AbortController().signal).catch(() => undefined);
      expect(attempts).toBeGreaterThan(1);
      const later = (hours: number) => ({
        ...deps,
        clock: { now: () => new Date(Date.now() + hours * 3_600_000) },
      });

      await cleanUpInterruptedFiles(later(25));
      expect(files()).toHaveLength(1);
      expect((await download()).status).toBe(200);
      await cleanUp(later(8 * 24));
      expect(files()).toEqual([]);
    },
  );
});
