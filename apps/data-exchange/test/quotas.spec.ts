import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Caller } from '@plinth/kernel/caller';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { ArrivingBytes } from '../src/app/arriving-bytes';
import { importInSingleTransaction } from '../src/app/import-in-single-transaction';
import { importRange } from '../src/app/import-range';
import { runExport } from '../src/app/run-export';
import { splitIntoRanges } from '../src/app/split-into-ranges';
import { saveMapping } from '../src/store/mapping-store';
import { tenantUsageStore } from '../src/store/tenant-usage-store';
import { openEvents } from './open-events';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const BYTES_MAX = 3_000_000;
const KEPT_BYTES_MAX = 200_000;
const HOUR_MILLISECONDS = 3_600_000;

/** Sends so much of a file, and then neither more nor the end. */
function unendedUpload(exchange: DataExchange, caller: Caller, bytes: number) {
  let status: number | undefined;
  const { url, headers } = exchange.as(caller).address('POST', '/imports');
  const sent = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=part' },
  });
  sent.on('response', (response) => (status = response.resume().statusCode)).on('error', () => undefined);
  sent.write(
    '--part\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' +
      `code,title\n${'A,a\n'.repeat(bytes / 4)}`,
  );
  return { status: () => status, giveUp: () => sent.destroy() };
}

const storedFiles = ({ folder }: DataExchange, tenantId: string): string[] => {
  const partial = readdirSync(join(folder, '@partial'));
  const exports = join(folder, tenantId, 'exports');
  return existsSync(exports) ? [...readdirSync(exports), ...partial] : partial;
};

/** Counts what of files a store takes. */
function countedStore(blobs: BlobStore) {
  let taken = 0;
  const put: BlobStore['put'] = (key, content) => {
    const counted = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        taken += piece.length;
        yield piece;
      }
    };
    return blobs.put(key, Readable.from(counted(content), { objectMode: false }));
  };
  return { blobs: { ...blobs, put }, bytesTaken: () => taken };
}

/** A store that has all of a file, and says that it is stored when it is told to. */
function heldStore(blobs: BlobStore) {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const put: BlobStore['put'] = async (key, content) => {
    const stored = await blobs.put(key, content);
    taken.resolve();
    await released.promise;
    return stored;
  };
  return { blobs: { ...blobs, put }, stored: taken.promise, release: released.resolve };
}

const storedRows = async ({ db }: DataExchange, { tenantId }: Caller, jobId: string): Promise<number> => {
  const [row] = await db.inTenant(
    tenantId,
    (tx) => tx.$queryRaw<{ rows: number }[]>`
      SELECT (
        (SELECT count(*) FROM import_failed_row WHERE job_id = ${jobId}::uuid)
        + (SELECT coalesce(sum(row_count), 0) FROM import_failed_part WHERE job_id = ${jobId}::uuid)
      )::integer AS rows`,
  );
  return row!.rows;
};

/** Stores failed rows of an import, each by itself. */
const insertParts = ({ db }: DataExchange, { tenantId }: Caller, jobId: string, count: number) =>
  db.inTenant(
    tenantId,
    (tx) => tx.$executeRaw`
      INSERT INTO import_failed_part (tenant_id, job_id, last_row, row_count, details, cells)
      SELECT ${tenantId}::uuid, ${jobId}::uuid, 100_000 + number, 1, '[100000,"Validation",[]]', '[]'
      FROM generate_series(1, ${count}::int) AS number`,
  );

describe('what a tenant has stored and running', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({
      worker: false,
      environment: {
        EXCHANGE_TENANT_BYTES_MAX: String(BYTES_MAX),
        EXCHANGE_TENANT_KEPT_BYTES_MAX: String(KEPT_BYTES_MAX),
        EXCHANGE_TENANT_JOBS_MAX: '2',
      },
    });
  });
  afterAll(() => exchange.close());

  it('has a quota of bytes, which says when there will be room again, and is not shared by others', async () => {
    const caller = aCaller();
    const csv = `code,title\n${'A,some title that takes room\n'.repeat(50_000)}`;
    const { body: first } = await upload(exchange, caller, csv);
    expect((await upload(exchange, caller, csv)).status).toBe(201);
    const refused = await upload(exchange, caller, csv);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({
      type: expect.stringMatching(/quota-exceeded$/),
      quota: { name: 'exchange-file-bytes', scope: 'tenant', limit: BYTES_MAX },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(6 * 86_400);
    expect((await upload(exchange, aCaller(), csv)).status).toBe(201);

    await exchange.imports.recordFileRemoval(caller.tenantId, first.id, new Date());
    const further = [await upload(exchange, caller, csv), await upload(exchange, caller, csv)];
    expect(further.map(({ status }) => status)).toEqual([201, 429]);
  });

  it('has a quota of bytes, which holds when several files are uploaded at once', async () => {
    const caller = aCaller();
    const csv = `code,title\n${'A,some title that takes room\n'.repeat(50_000)}`;

    const racing = await Promise.all([1, 2, 3, 4].map(() => upload(exchange, caller, csv)));

    expect(racing.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429]);
  });

  it('has a quota of bytes, which holds while files are still arriving', async () => {
    const caller = aCaller();
    const uploads = Array.from({ length: 4 }, () => unendedUpload(exchange, caller, BYTES_MAX / 2));
    try {
      const refused = await eventually(() => uploads.find(({ status }) => status() !== undefined));
      expect(refused.status()).toBe(429);
    } finally {
      for (const { giveUp } of uploads) giveUp();
    }
    // What did not arrive takes no room.
    await eventually(async () => (await upload(exchange, caller, 'code,title\nA,a\n')).status === 201);
  });

  it('has a quota of bytes, of which a small file takes 4 kB too, until it is removed', async () => {
    const caller = aCaller();
    const used = async () => (await tenantUsageStore(exchange.db).of(caller.tenantId)).fileBytes;
    const { body: small } = await upload(exchange, caller, 'code,title\nA,a\n');
    expect(await used()).toBe(4_096);

    const large = `code,title\n${'A,some title\n'.repeat(1_000)}`;
    await upload(exchange, caller, large);
    expect(await used()).toBe(4_096 + large.length);
    await exchange.imports.recordFileRemoval(caller.tenantId, small.id, new Date());
    expect(await used()).toBe(large.length);

    // What is left for a file has to be enough for a small one.
    const rest = BYTES_MAX - large.length;
    expect((await upload(exchange, caller, `code,title\nA,${'a'.repeat(rest - 4_013)}\n`)).status).toBe(201);
    expect((await upload(exchange, caller, 'code,title\nA,a\n')).status).toBe(429);
  });

  it('has a quota of bytes, which exports that wait do not exceed however many they are', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: queued } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
    });
    expect(queued.status).toBe('Queued');
    // As the file of another export that was asked for earlier.
    const text = 'code,title\n';
    const file = text + 'A'.repeat(BYTES_MAX - text.length);
    expect((await upload(exchange, caller, file)).status).toBe(201);

    await runExport(exchange, caller.tenantId, queued.id, new AbortController().signal);

    const { body: ended } = await http.get(`/exports/jobs/${queued.id}`);
    expect(ended).toMatchObject({ status: 'Failed', errorMessage: expect.stringContaining('no room') });
  });

  describe('as exports are written', () => {
    const ROWS = 20_000;
    const FILE_BYTES_MIN = ROWS * 100;

    /** An export of some two megabytes that waits. */
    const queuedExport = async (caller: Caller): Promise<string> => {
      const job = { definitionName: 'Shop.Articles', format: 'csv', selectedFields: ['title'] };
      return (await exchange.as(caller).post('/exports/jobs', job)).body.id;
    };
    const addRows = (caller: Caller, count: number) =>
      exchange.shop.query(
        `INSERT INTO article (tenant_id, id, code, title)
         SELECT $1, gen_random_uuid(), 'K' || number, repeat('x', 100) FROM generate_series(1, $2::int) AS number`,
        [caller.tenantId, count],
      );
    const run = (deps: DataExchange, caller: Caller, id: string) =>
      runExport(deps, caller.tenantId, id, new AbortController().signal);
    const endOf = async (caller: Caller, id: string) =>
      (await exchange.as(caller).get(`/exports/jobs/${id}`)).body;
    /** What a tenant has in the store of files, is counted with, and may be removed later. */
    const storedOf = async ({ tenantId }: Caller) => ({
      files: storedFiles(exchange, tenantId).length,
      bytes: (await tenantUsageStore(exchange.db).of(tenantId)).fileBytes,
      unrecorded: await exchange.db.inTenant(
        tenantId,
        (tx) => tx.$queryRaw<object[]>`SELECT FROM unrecorded_blob WHERE tenant_id = ${tenantId}::uuid`,
      ),
    });
    const failed = { status: 'Failed', errorMessage: 'Your tenant has no room for more files.' };
    const nothing = { files: 0, bytes: 0, unrecorded: [] };

    it.each(['csv', 'json', 'xlsx'])(
      'has a quota of bytes, beyond which no file grows, and then there is none: %s',
      async (format) => {
        const caller = aCaller();
        await exchange.shop.query(
          `INSERT INTO article (tenant_id, id, code, title)
           SELECT $1, gen_random_uuid(), 'K' || number, text FROM generate_series(1, 20000) AS number,
             LATERAL (SELECT string_agg(md5(number || '.' || part), '') AS text FROM generate_series(1, 12) AS part) AS random`,
          [caller.tenantId],
        );
        const job = { definitionName: 'Shop.Articles', format, selectedFields: ['title'] };
        const { body: queued } = await exchange.as(caller).post('/exports/jobs', job);
        const { blobs, bytesTaken } = countedStore(exchange.blobs);

        await run({ ...exchange, blobs }, caller, queued.id);

        expect(await endOf(caller, queued.id)).toMatchObject(failed);
        expect(bytesTaken()).toBeGreaterThan(0);
        expect(bytesTaken()).toBeLessThanOrEqual(BYTES_MAX);
        expect(await storedOf(caller)).toEqual(nothing);
      },
    );

    it('has a quota of bytes, of which those that a process writes at once take no more together', async () => {
      const caller = aCaller();
      await addRows(caller, ROWS);
      const [first, second] = [await queuedExport(caller), await queuedExport(caller)];
      const { blobs, stored, release } = heldStore(exchange.blobs);
      const running = run({ ...exchange, blobs }, caller, first);
      await stored;

      await run(exchange, caller, second);
      release();
      await running;

      expect(await endOf(caller, second)).toMatchObject(failed);
      expect(await endOf(caller, first)).toMatchObject({ status: 'Completed', rowCount: ROWS });
      expect(await storedOf(caller)).toMatchObject({ files: 1, unrecorded: [] });
      // What was refused takes no room.
      await exchange.shop.query('DELETE FROM article WHERE tenant_id = $1', [caller.tenantId]);
      await addRows(caller, 1_000);
      const third = await queuedExport(caller);
      await run(exchange, caller, third);
      expect(await endOf(caller, third)).toMatchObject({ status: 'Completed' });
    });

    it('has a quota of bytes, which holds whatever other processes have stored meanwhile', async () => {
      const caller = aCaller();
      await addRows(caller, ROWS);
      const [first, second] = [await queuedExport(caller), await queuedExport(caller)];
      const { blobs, stored, release } = heldStore(exchange.blobs);
      const elsewhere = { ...exchange, blobs, arriving: new ArrivingBytes() };
      const running = run(elsewhere, caller, first);
      await stored;

      await run(exchange, caller, second);
      release();
      await running;

      expect(await endOf(caller, second)).toMatchObject({ status: 'Completed' });
      expect(await endOf(caller, first)).toMatchObject(failed);
      const { files, bytes, unrecorded } = await storedOf(caller);
      expect([files, unrecorded]).toEqual([1, []]);
      expect(bytes).toBeGreaterThan(FILE_BYTES_MIN);
      expect(bytes).toBeLessThanOrEqual(BYTES_MAX);
    });
  });

  it.each([
    ['all rows or none', 'abort'],
    ['what can be imported', 'continue'],
  ])(
    'has a quota of failed rows, which holds for imports that executed before: %s',
    async (_what, onError) => {
      const caller = aCaller();
      const { tenantId } = caller;
      const file = `code,title\n${',-\n'.repeat(12_000)}`;
      const ids = [await mappedImport(exchange, caller, file), await mappedImport(exchange, caller, file)];
      for (const id of ids)
        expect((await exchange.as(caller).post(`/imports/${id}/execute`, { onError })).status).toBe(202);
      const { signal } = new AbortController();
      const range = { range: 0, keysFirst: false };
      const run = async (jobId: string) => {
        if (onError === 'abort') return importInSingleTransaction(exchange, tenantId, jobId, signal);
        await splitIntoRanges(exchange, tenantId, jobId, signal);
        return importRange(exchange, { tenantId, jobId, ...range }, signal);
      };

      const [first] = await Promise.allSettled([run(ids[0]!)]);
      const [second] = await Promise.allSettled([run(ids[1]!)]);

      expect(first.status).toBe(onError === 'abort' ? 'fulfilled' : 'rejected');
      expect(second).toMatchObject({
        reason: { detail: expect.stringContaining('no room for failed rows') },
      });
      expect(await Promise.all(ids.map((id) => storedRows(exchange, caller, id)))).toEqual([4_000, 0]);
      expect(await exchange.imports.get(tenantId, ids[1]!)).toMatchObject({ totalRows: 0, failedBytes: 0 });
    },
  );

  it('has a quota of jobs, which holds when many are started at once', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const ids = [];
    for (let number = 0; number < 4; number++)
      ids.push(await mappedImport(exchange, caller, 'code,title\nA,a\n'));
    const racing = await Promise.all(ids.map((id) => http.post(`/imports/${id}/execute`)));
    expect(racing.map(({ status }) => status).sort()).toEqual([202, 202, 429, 429]);
    expect(racing.find(({ status }) => status === 429)?.body.quota.name).toBe('exchange-jobs');
    const job = {
      definitionName: 'Shop.Articles',
      format: 'csv',
      selectedFields: [],
      includeIdForImport: false,
    };
    expect((await http.post('/exports/jobs', job)).status).toBe(429);
  });

  it('has a quota of jobs, of which undos are some, and which refuses no retry of one', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const undo = (jobId: string, operationId?: string) =>
      exchange.as({ ...caller, operationId }).post(`/imports/${jobId}/undo`);
    const [first, second, third, fourth] = await Promise.all(
      [1, 2, 3, 4].map(() => mappedImport(exchange, caller, 'code,title\nA,a\n')),
    );
    for (const id of [first!, second!, third!]) {
      const executed = { status: 'Executing', executedAt: new Date() };
      await exchange.imports.advance(tenantId, id, 'execute', executed);
      await exchange.imports.finish(tenantId, id, { status: 'Completed', at: new Date() });
    }

    expect((await undo(first!, 'undo of the first')).status).toBe(202);
    expect((await undo(second!)).status).toBe(202);
    const refused = await undo(third!);

    expect([refused.status, refused.body.quota]).toMatchObject([429, { name: 'exchange-jobs', used: 2 }]);
    expect((await undo(first!, 'undo of the first')).status).toBe(202);
    expect((await undo(first!)).body.type).toContain('import-already-undone');
    expect((await exchange.as(caller).post(`/imports/${fourth}/execute`)).status).toBe(429);
    // What was refused can be asked for once one of them has ended.
    await exchange.undos.finish(tenantId, second!, { status: 'Undone', at: new Date() });
    expect((await undo(third!)).status).toBe(202);
  });
});

describe('what a tenant keeps of its jobs', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange({
      environment: { EXCHANGE_TENANT_KEPT_BYTES_MAX: String(KEPT_BYTES_MAX) },
    });
  });
  afterAll(() => exchange.close());

  it('has a quota, so that a small file does not leave failed rows a hundred times as large', async () => {
    const caller = aCaller();
    const fileBytes = 300_000;
    const jobId = await mappedImport(exchange, caller, `code,title\nA,a\n${',-\n'.repeat(fileBytes / 3)}`);
    const http = exchange.as(caller);

    expect((await http.post(`/imports/${jobId}/execute`)).status).toBe(202);
    const report = await reportOf(exchange, caller, jobId);

    expect(report).toMatchObject({
      finalStatus: 'Failed',
      insertedRows: 1,
      errorMessage: expect.stringContaining('More rows failed'),
    });
    expect(report.failedRows).toBeLessThan(fileBytes / 3 - 1);
    // Of the first batch, which did not know that it would be so much.
    expect(await storedRows(exchange, caller, jobId)).toBe(3_999);
    // Others have room, and rows that do not fail need none.
    expect((await importFile(exchange, aCaller(), 'code,title\nA,a\n,b\n')).report.failedRows).toBe(1);
  });

  it('counts the rows that were stored beside those for which there was no room', async () => {
    const caller = aCaller();
    const stored = Array.from({ length: 12_000 }, (_, row) => `K${row},T${row}\n`).join('');

    const { report } = await importFile(
      exchange,
      caller,
      `code,title\nA,a\n${',-\n'.repeat(4_000)}${stored}`,
    );

    expect(report).toMatchObject({ finalStatus: 'Failed', failedRows: 4_000 });
    expect(await exchange.shop.rows(caller.tenantId)).toHaveLength(report.insertedRows);
  });

  it('refuses more files, exports, mappings and imports while the quota is used up', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    await eventually(() => (exchange.kept.take(caller.tenantId, KEPT_BYTES_MAX - 1_000), true));

    const answers = [
      await upload(exchange, caller, `${'long name,'.repeat(200)}code\nA,a\n`).then(({ body }) =>
        http.post(`/imports/${body.id}/preview`),
      ),
      await http.post('/exports/jobs', {
        definitionName: 'Shop.Articles',
        format: 'csv',
        filter: { 'title.eq': 'x'.repeat(2_000) },
      }),
    ];

    for (const { status, body } of answers) {
      expect(status).toBe(429);
      expect(body.quota).toMatchObject({ name: 'exchange-kept-bytes', limit: KEPT_BYTES_MAX });
    }
    const { suggestions: mappings } = preview;
    expect((await http.put(`/imports/${job.id}/mappings`, { mappings })).status).toBe(204);
    exchange.kept.recordWritten(caller.tenantId, 1_000);
    const executed = await http.post(`/imports/${job.id}/execute`);
    expect([executed.status, executed.body.quota?.name]).toEqual([429, 'exchange-kept-bytes']);
  });

  it('has room for the retry of an export that took the last of it', async () => {
    const caller = aCaller({ operationId: 'one-export' });
    await mappedImport(exchange, { ...caller, operationId: undefined }, 'code,title\nA,a\n');
    // What there is was counted by then.
    await eventually(() => (exchange.kept.take(caller.tenantId, KEPT_BYTES_MAX - 4_000), true));
    const request = {
      definitionName: 'Shop.Articles',
      format: 'csv',
      filter: { 'title.eq': 'x'.repeat(2_000) },
    };
    const create = () => exchange.as(caller).post('/exports/jobs', request);
    const [first, ...retries] = [await create(), await create(), await create()];

    expect(first!.status).toBe(202);
    expect(retries.map(({ status, body }) => [status, body.id])).toEqual(
      retries.map(() => [202, first!.body.id]),
    );
  });

  it('is removed with the failed rows, of which one statement removes some', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const { jobId } = await importFile(exchange, caller, 'code,title\n,a\n');
    await exchange.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO import_failed_row (tenant_id, job_id, row_number, kind, details, cells)
      SELECT ${tenantId}::uuid, ${jobId}::uuid, number, 'Validation', '[]', '[]'
      FROM generate_series(10, 25_000) AS number`,
    );

    await insertParts(exchange, caller, jobId, 120);

    expect(await exchange.imports.removeRows(tenantId, jobId, new Date())).toBe(24_992 + 120);

    expect(await storedRows(exchange, caller, jobId)).toBe(0);
    const job = await exchange.imports.get(tenantId, jobId);
    expect(job).toMatchObject({ headers: null, mappings: null, caller: null, failedRows: 1 });
  });

  it('is removed with its job at the latest, where a version before did not know all failed rows', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\n,a\n');
    expect(await storedRows(exchange, caller, jobId)).toBe(1);

    await exchange.imports.remove(caller.tenantId, jobId);

    expect(await storedRows(exchange, caller, jobId)).toBe(0);
  });
});

describe('what is left of an import', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  it('is small where a column has a name of half a megabyte and every row fails at it', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: job } = await upload(
      exchange,
      caller,
      `${'long '.repeat(100_000)},title\n${',a\n'.repeat(1_000)}`,
    );
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    expect(preview.headers).toEqual([expect.stringMatching(/^(long ){30}.{0,50}…$/), 'title']);
    const [long, title] = preview.headers;
    const mappings = [
      { sourceColumn: long, targetProperty: 'code' },
      { sourceColumn: title, targetProperty: 'title' },
    ];
    expect((await http.put(`/imports/${job.id}/mappings`, { mappings })).status).toBe(204);

    const report = await http.post(`/imports/${job.id}/dry-run`, {});

    expect(report.body).toMatchObject({ failedRows: 1_000, rowErrors: expect.any(Array) });
    expect(report.body.rowErrors[0].details[0].column).toBe(long);
    expect(report.text.length).toBeLessThan(2_000_000);
  });

  it('keeps the newest two hundred mappings of a definition', async () => {
    const { tenantId } = aCaller();
    const { savedMappings, db } = exchange;
    await db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO saved_mapping (tenant_id, definition_name, header_hash, mappings, saved_at)
      SELECT ${tenantId}::uuid, 'Shop.Articles', 'hash-' || age, '[{}]', now() - age * interval '1 minute'
      FROM generate_series(1, 205) AS age`,
    );

    const newest = { definitionName: 'Shop.Articles', headerHash: 'newest', mappings: [] };
    await db.inTenant(tenantId, (tx) => saveMapping(tx, tenantId, newest));

    expect(await savedMappings.get(tenantId, 'Shop.Articles', 'hash-199')).toHaveLength(1);
    expect(await savedMappings.get(tenantId, 'Shop.Articles', 'hash-200')).toHaveLength(0);
  });

  it('is read by bytes where rows failed: a report describes what fits, the correction file has every row', async () => {
    const caller = aCaller();
    const rows = Array.from({ length: 30 }, (_, number) => `,${number}-${'x'.repeat(200_000)}`);
    const { jobId, report } = await importFile(exchange, caller, `code,title\n${rows.join('\n')}\n`);
    expect(report.failedRows).toBe(30);
    const withCells = await exchange.as(caller).get(`/imports/${jobId}/report?includeCells=true`);
    expect(withCells.body.rowErrors.length).toBeLessThan(25);
    const { text } = await exchange.as(caller).get(`/imports/${jobId}/correction-file`);
    expect(text.trim().split('\n')).toHaveLength(31);
  });

  it('is a stream that ends when the credential of its reader expires', async () => {
    const caller = aCaller();
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const credentialExpiresAt = Date.now() + HOUR_MILLISECONDS;
    const reader = exchange.as({ ...caller, credentialExpiresAt });
    const events = await openEvents(reader.address('GET', `/imports/${job.id}/events`));
    await events.readTo('event: progress');
    const clock = jest.spyOn(exchange.clock, 'now').mockReturnValue(new Date(credentialExpiresAt));
    expect(await events.readToEnd()).not.toContain('event: end');
    clock.mockRestore();
  });
});
