import { createPool, inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { LostProgress } from '../src/domain/lost-progress';
import { KEY_BYTES } from '../src/store/key-quota';
import { keyStore, type RowKey } from '../src/store/key-store';
import { mappedImport, reportOf, startDataExchange, type DataExchange } from './start-data-exchange';

const RANGE_BYTES = 120;
/** As long as a statement of a request may take there, in which others take milliseconds. */
const STATEMENT_MILLISECONDS = 1_500;
const ALL_BUT_TIMEOUTS = [
  ...ALL_BUT_INTERVALS.filter((name) => !name.endsWith('Timeout')),
  'setInterval' as const,
  'clearInterval' as const,
];
/** The code of a statement that was cancelled. */
const QUERY_CANCELED = '57014';

/** Short keys, so that rows of different ranges have the same one; some cells are wrong, and some rows are none. */
const line = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 40 }), fc.nat(9))
      .map(([key, n]) => `K${key},Title ${n},${n}`),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 }).map((key) => `K${key},Broken,none`) },
  fc.integer({ min: 0, max: 40 }).map((key) => `K${key},unacceptable,1`),
  fc.integer({ min: 0, max: 40 }).map((key) => `K${key},"two\nlines, é",2`),
  fc.constantFrom('', ', ,', ',No key,1', 'K1,"never closed,1', 'K2,too,3,many,cells'),
);
const lines = fc.array(line, { minLength: 30, maxLength: 120 });
const encoding = fc.constantFrom('utf-8', 'utf16le', 'windows-1252');

describe('a large file that several workers import', () => {
  let alone: DataExchange;
  let shared: DataExchange;
  let workers = 3;

  beforeAll(async () => {
    [alone, shared] = await Promise.all([
      startDataExchange(),
      startDataExchange({
        countWorkers: () => workers,
        environment: { EXCHANGE_RANGE_BYTES: String(RANGE_BYTES) },
      }),
    ]);
  });
  afterAll(() => Promise.all([alone.close(), shared.close()]));

  /** Everything that people see of an import of this file into a table that holds some of its keys already. */
  const outcome = async (exchange: DataExchange, file: Uint8Array, options: object) => {
    const caller = aCaller();
    const http = exchange.as(caller);
    await exchange.shop.query(
      `INSERT INTO article (tenant_id, id, code, title)
       SELECT $1, gen_random_uuid(), 'K' || n, 'Former' FROM generate_series(0, 40, 7) AS n`,
      [caller.tenantId],
    );
    const jobId = await mappedImport(exchange, caller, file);
    await http.post(`/imports/${jobId}/execute`, options);
    const { importJobId: _, duration: __, ...report } = await reportOf(exchange, caller, jobId);
    const rows = await exchange.shop.query(
      'SELECT code, title, stock, import_row FROM article WHERE tenant_id = $1 ORDER BY code',
      [caller.tenantId],
    );
    const correction = await http.get(`/imports/${jobId}/correction-file`);
    const ranges = (await exchange.ranges.list(caller.tenantId, jobId)).length;
    return { ranges, seen: { report, rows: rows.rows, correction: correction.text } };
  };

  it('has the same result as with one worker', async () => {
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(
        lines,
        encoding,
        fc.constantFrom('upsert', 'insert', 'update'),
        fc.constantFrom(1, 3),
        async (content, encodedAs, mode, count) => {
          workers = count;
          const file = iconv.encode(`code,title,stock\n${content.join('\n')}`, encodedAs, { addBOM: true });

          const [one, several] = await Promise.all([
            outcome(alone, file, { mode }),
            outcome(shared, file, { mode }),
          ]);

          expect(one.ranges).toBe(1);
          cut = Math.max(cut, several.ranges);
          expect(several.seen).toEqual(one.seen);
        },
      ),
      {
        // Small files may be cut into few ranges; this one never is.
        examples: [
          [Array.from({ length: 120 }, (_, n) => `K${n % 50},Title ${n},${n}`), 'utf16le', 'upsert', 3],
        ],
        numRuns: Number(process.env['PLINTH_TEST_RANGES'] ?? 8),
      },
    );
    expect(cut).toBeGreaterThan(5);
  });

  it.each([1, 3])('reports duplicate keys of different ranges with %d workers', async (count) => {
    workers = count;
    const caller = aCaller();
    const filler = Array.from({ length: 60 }, (_, row) => `F${row},Filler ${row},1`);
    const file = ['code,title,stock', 'A,First,none', 'B,First,1', ...filler, 'A,Last,2', 'B,Last,2'].join(
      '\n',
    );
    const jobId = await mappedImport(shared, caller, file);

    await shared.as(caller).post(`/imports/${jobId}/execute`);
    const report = await reportOf(shared, caller, jobId);

    expect((await shared.ranges.list(caller.tenantId, jobId)).length).toBeGreaterThan(5);
    expect(report).toMatchObject({ totalRows: 64, insertedRows: 61, failedRows: 3 });
    expect(report.rowErrors.slice(1)).toMatchObject([
      { rowNumber: 64, kind: 'Identity', message: expect.stringContaining('Row 2 of this file') },
      { rowNumber: 65, kind: 'Identity', message: expect.stringContaining('Row 3 of this file') },
    ]);
  });

  it('keeps the ranges that were stored first, also of two runs at the same time', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(alone, caller, 'code,title\nA,a');
    const cuts = [3, 5, 2].map((count) =>
      Array.from({ length: count }, (_, number) => ({
        startByte: number * 60,
        endByte: number === count - 1 ? null : (number + 1) * 60,
        recordsBefore: number,
      })),
    );
    const stored = await Promise.all(
      cuts.map((ranges) => alone.ranges.insert(caller.tenantId, jobId, ranges)),
    );

    const ranges = await alone.ranges.list(caller.tenantId, jobId);
    expect(stored).toEqual(cuts.map(() => ranges.length));
    expect(ranges.filter(({ endByte }) => endByte === null).map(({ number }) => number)).toEqual([
      ranges.length - 1,
    ]);
  });

  describe('has its keys', () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const quotaOf = (tryTake: (tenantId: string, bytes: number) => boolean) => ({
      forImport: () => ({ tryTake, whenKnown: async () => undefined }),
    });
    const noQuota = quotaOf(() => true);
    const keysOf = async (quota = noQuota, keysMax?: number) => {
      const jobId = await mappedImport(alone, caller, 'code,title\nA,a');
      const store = keyStore(alone.pool, quota, keysMax);
      const keys: RowKey[] = [2, 3, 4].map((row) => [row, '0'.repeat(32)]);
      return { jobId, store, insert: () => store.insert(tenantId, jobId, 0, 1, keys) };
    };

    it('found as often as they are repeated, until the job ends', async () => {
      const { store, jobId, insert } = await keysOf();
      await insert();
      const counted = () =>
        inTenantConnection(alone.pool, tenantId, async (connection) => {
          const { rows } = await connection.query<{ count: number }>(
            'SELECT duplicate_rows AS count FROM import_job WHERE id = $1',
            [jobId],
          );
          return rows[0]?.count;
        });
      // The answer to the first time may have been lost.
      for (let time = 0; time < 2; time++) await store.findDuplicates(tenantId, jobId);
      expect(await store.listDuplicates(tenantId, jobId, 1, 3)).toEqual([[3, 2]]);
      expect(await counted()).toBe(2);
      await store.delete(tenantId, jobId);
      expect(await counted()).toBe(0);
      expect(await store.listDuplicates(tenantId, jobId, 1, 9)).toEqual([]);
    });

    it('read again from the first that is missing, whatever a read stored that only seemed dead', async () => {
      const { store, jobId, insert } = await keysOf();
      const stored = (range: number) => store.lastBatch(tenantId, jobId, range);
      const insertLater = (batch: number) => store.insert(tenantId, jobId, 0, batch, []);
      await insertLater(3);
      expect(await stored(0)).toBe(0);
      await insert();
      expect(await stored(0)).toBe(1);
      await insertLater(2);
      expect([await stored(0), await stored(1)]).toEqual([3, 0]);
    });

    it('not compared where the database lost some of which it was told that they are read', async () => {
      const { store, jobId, insert } = await keysOf();
      await insert();
      await expect(store.findDuplicates(tenantId, jobId, { batches: 2 })).rejects.toThrow(LostProgress);
      expect(await store.findDuplicates(tenantId, jobId, { batches: 1 })).toBe(2);
    });

    it('refused where the tenant has no room for them, or for those that are repeated', async () => {
      const full = await keysOf(quotaOf(() => false));
      await expect(full.insert()).rejects.toMatchObject({ kind: 'invalid' });
      let room = 3 * KEY_BYTES;
      const short = await keysOf(quotaOf((_tenantId, bytes) => (room -= bytes) >= 0));
      await short.insert();
      await expect(short.store.findDuplicates(tenantId, short.jobId)).rejects.toMatchObject({
        kind: 'invalid',
      });
    });

    it('refused where they are more than can be compared', async () => {
      const { store, jobId, insert } = await keysOf(undefined, 2);
      await insert();
      await expect(store.findDuplicates(tenantId, jobId)).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('compared and deleted for longer than a request may take', async () => {
      const [found, ended] = [await keysOf(), await keysOf()];
      const quick = createPool(alone.pool.options.connectionString!, silentLog(), {
        pipeline: true,
        statementMilliseconds: STATEMENT_MILLISECONDS,
      });
      const store = keyStore(quick, noQuota);
      await Promise.all([found.insert(), ended.insert()]);

      jest.useFakeTimers({ doNotFake: ALL_BUT_TIMEOUTS });
      const work = await inTenantConnection(alone.pool, tenantId, async (connection) => {
        await connection.query('INSERT INTO import_duplicate VALUES ($1, $2, 3, 2)', [tenantId, found.jobId]);
        await connection.query('SELECT FROM import_key WHERE job_id = $1 FOR UPDATE', [ended.jobId]);
        const begun = Promise.allSettled([
          store.findDuplicates(tenantId, found.jobId),
          store.delete(tenantId, ended.jobId),
        ]);
        const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        while ((await alone.pool.query(waiting)).rowCount! < 2);
        // The timers of connections first, and then that of the server.
        jest.advanceTimersByTime(600_000);
        await connection.query('SELECT pg_sleep($1)', [(1.2 * STATEMENT_MILLISECONDS) / 1_000]);
        return { begun };
      }).finally(() => jest.useRealTimers());

      expect((await work.begun).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      await quick.end();
    });

    it('given up where comparing them takes too long or too much of the disk, and when that is not wanted', async () => {
      const { store, jobId, insert } = await keysOf();
      await insert();
      const lockedKeys = <Result>(work: (waiting: string) => Promise<Result>) =>
        inTenantConnection(alone.pool, tenantId, async (connection) => {
          await connection.query('SELECT FROM import_key WHERE job_id = $1 FOR UPDATE', [jobId]);
          return work(`SELECT pid FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM import_key%'`);
        });
      const waits = (waiting: string) =>
        eventually(async () => (await alone.pool.query<{ pid: number }>(waiting)).rows[0]?.pid);
      await lockedKeys(async (waiting) => {
        const finding = store.findDuplicates(tenantId, jobId);
        finding.catch(() => undefined);
        await alone.pool.query('SELECT pg_cancel_backend($1)', [await waits(waiting)]);
        await expect(finding).rejects.toMatchObject({ kind: 'too-large' });

        const unwanted = new AbortController();
        const ended = store.findDuplicates(tenantId, jobId, { signal: unwanted.signal });
        ended.catch(() => undefined);
        await waits(waiting);
        unwanted.abort();
        await expect(ended).rejects.toMatchObject({ code: QUERY_CANCELED });
        await eventually(async () => (await alone.pool.query(waiting)).rows.length === 0);
      });
    });
  });
});
