import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { Caller } from '@plinth/kernel/caller';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { Client } from 'pg';
import { endImport, failImport } from '../src/app/end-import';
import type { RangeToImport } from '../src/app/import-range';
import { planImport } from '../src/app/plan-import';
import { splitIntoRanges } from '../src/app/split-into-ranges';
import { LostProgress } from '../src/domain/lost-progress';
import { backUp } from './a-backup';
import { mappedImport, reportOf, startDataExchange, type DataExchange } from './start-data-exchange';

const ROWS = 80;
const RANGE_BYTES = 120;
const lines = Array.from({ length: ROWS }, (_, row) => `K${row},Title ${row}`);

describe('an import whose databases are restored beside a Temporal that was not', () => {
  let exchange: DataExchange;
  let admin: Client;
  let workers = 1;
  let beforeTurn: (range: RangeToImport) => Promise<void>;

  beforeAll(async () => {
    exchange = await startDataExchange({
      countWorkers: () => workers,
      environment: { EXCHANGE_RANGE_BYTES: String(RANGE_BYTES) },
      beforeTurn: (range) => beforeTurn(range),
    });
    const url = new URL(infrastructure().postgresUrl);
    url.pathname = new URL(exchange.environment.DATABASE_URL_DATA_EXCHANGE).pathname;
    admin = new Client({ connectionString: url.href });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await exchange.close();
  });

  /** Of the job, the rows and what their owner knows of the import. */
  const backUpAll = async () => {
    const restores = await Promise.all([backUp(admin), exchange.shop.backUp()]);
    return async () => {
      for (const restore of restores) await restore();
    };
  };
  const execute = async (caller: Caller, file: string) => {
    const jobId = await mappedImport(exchange, caller, file);
    expect((await exchange.as(caller).post(`/imports/${jobId}/execute`)).status).toBe(202);
    return jobId;
  };
  const codesOf = async ({ tenantId }: Caller) =>
    (await exchange.shop.rows(tenantId)).map(({ code }) => code).sort();
  const allCodes = lines.map((line) => line.split(',')[0]).sort();

  it('imports the rows that the databases lost, while its workflow goes on', async () => {
    workers = 1;
    const caller = aCaller();
    let backup: Promise<() => Promise<void>> | undefined;
    let restored: Promise<number> | undefined;
    const restore = async () => {
      const rows = await codesOf(caller);
      await (
        await backup!
      )();
      return rows.length;
    };
    beforeTurn = async ({ range }) => {
      if (range === 1) await (backup ??= backUpAll());
      if (range === 3) await (restored ??= restore());
    };

    const jobId = await execute(caller, `code,title\n${lines.join('\n')}\n`);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      totalRows: ROWS,
      insertedRows: ROWS,
    });
    expect(await codesOf(caller)).toEqual(allCodes);
    expect(await restored).toBeGreaterThan(0);
  });

  it('goes on with what it knows of duplicate keys, where fewer workers take part then', async () => {
    workers = 2;
    const caller = aCaller();
    const counted = async ({ tenantId, jobId }: RangeToImport, end: number) =>
      (await exchange.ranges.list(tenantId, jobId)).every(
        ({ number, lastBatch }) => number >= end || lastBatch > 0,
      );
    let backup: Promise<() => Promise<void>> | undefined;
    let restored: Promise<void> | undefined;
    // No other range is imported while the databases are backed up or restored.
    beforeTurn = async (turn) => {
      if (turn.range >= 5) await (backup ??= eventually(() => counted(turn, 5)).then(backUpAll));
      if (turn.range < 8) return;
      restored ??= eventually(() => counted(turn, 8)).then(async () => {
        workers = 1;
        await (
          await backup!
        )();
      });
      await restored;
    };

    // Its first row fails, so that the table of the owner does not show its key.
    const rows = lines.map((line) => `${line},1\nA,Later,2\n`).join('');
    const jobId = await execute(caller, `code,title,stock\nA,First,none\n${rows}`);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'PartiallyCompleted',
      insertedRows: ROWS,
      failedRows: ROWS + 1,
    });
    expect([workers, await codesOf(caller)]).toEqual([1, allCodes]);
  });

  it.each([60, 100_000])('keeps the ranges that it has where ranges are of %d bytes now', async (bytes) => {
    workers = 1;
    const caller = aCaller();
    beforeTurn = async () => undefined;
    const file = `code,title\n${lines.join('\n')}\n`;
    const jobId = await mappedImport(exchange, caller, file);
    const { tenantId } = caller;
    const executed = { status: 'Executing', caller: { ...caller } as object, executedAt: new Date() };
    await exchange.imports.advance(tenantId, jobId, 'execute', executed);
    const planAndCut = async (rangeBytes: number) => {
      const config = { ...exchange.config, EXCHANGE_RANGE_BYTES: rangeBytes };
      const dependencies = { ...exchange, config, countWorkers: async () => 1 };
      const { kind } = await planImport(dependencies, tenantId, jobId);
      const { count } = await splitIntoRanges(dependencies, tenantId, jobId, new AbortController().signal);
      return { kind, count };
    };

    const cut = await planAndCut(120);

    expect(await planAndCut(bytes)).toEqual(cut);
    expect(await exchange.ranges.list(tenantId, jobId)).toHaveLength(cut.count);
    expect(cut.count).toBeGreaterThan(5);
    await exchange.imports.finish(tenantId, jobId, { status: 'Failed', at: new Date() });
  });

  it('is not over before it began, where somebody executes it again while the workflow of before ends', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    await exchange.imports.advance(tenantId, jobId, 'execute', { status: 'Executing' });
    const end = { tenantId, jobId, isCancelled: false, keysFirst: false, batches: 0 };

    await expect(endImport(exchange, end, new AbortController().signal)).rejects.toThrow(LostProgress);

    expect((await exchange.imports.get(tenantId, jobId)).status).toBe('Executing');
    await exchange.imports.finish(tenantId, jobId, { status: 'Failed', at: new Date() });
  });

  it('keeps its file where the workflow of before fails, until it is executed again', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    beforeTurn = async () => undefined;
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    const attempt = { signal: new AbortController().signal, isLast: false };

    await failImport(exchange, { tenantId, jobId, reason: 'It failed before.' }, attempt);

    expect((await exchange.as(caller).post(`/imports/${jobId}/execute`)).status).toBe(202);
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({ finalStatus: 'Completed' });
  });

  it('finds the duplicate keys again that the database lost', async () => {
    workers = 2;
    const caller = aCaller();
    let lost: Promise<unknown> | undefined;
    // As before the keys of the file were read.
    beforeTurn = () =>
      (lost ??= admin.query('DELETE FROM import_duplicate; UPDATE import_job SET duplicate_rows = 0')).then(
        () => undefined,
      );

    // The key of a row that fails is taken all the same, which the table of the owner does not show.
    const rows = lines.map((line) => `${line},1`).join('\n');
    const jobId = await execute(caller, `code,title,stock\nA,First,none\n${rows}\nA,Last,2\n`);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'PartiallyCompleted',
      insertedRows: ROWS,
      failedRows: 2,
    });
  });

  it.each([300, 1_000_000])(
    'keeps its ranges where it begins anew, though they are to have %d bytes by now',
    async (rangeBytes) => {
      workers = 2;
      const caller = aCaller();
      let lost: Promise<unknown> | undefined;
      const lose = async () => {
        exchange.config.EXCHANGE_RANGE_BYTES = rangeBytes;
        await admin.query('DELETE FROM import_duplicate; UPDATE import_job SET duplicate_rows = 0');
      };
      beforeTurn = () => (lost ??= lose()).then(() => undefined);

      const jobId = await execute(caller, `code,title\nK0,Title\n${lines.join('\n')}\n`);

      const report = await reportOf(exchange, caller, jobId);
      exchange.config.EXCHANGE_RANGE_BYTES = RANGE_BYTES;
      expect(report).toMatchObject({ totalRows: ROWS + 1, insertedRows: ROWS, failedRows: 1 });
      expect(await codesOf(caller)).toEqual(allCodes);
    },
  );

  it('is cut again where the database lost its ranges', async () => {
    workers = 1;
    const caller = aCaller();
    let lost: Promise<unknown> | undefined;
    beforeTurn = () => (lost ??= admin.query('DELETE FROM import_range')).then(() => undefined);

    const jobId = await execute(caller, `code,title\n${lines.join('\n')}\n`);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: ROWS,
    });
  });

  it('runs to its end where its workflow had ended', async () => {
    const caller = aCaller();
    const backUpWithFile = async ({ tenantId, jobId }: RangeToImport) => {
      const { blobKey } = await exchange.imports.get(tenantId, jobId);
      const file = await buffer(await exchange.blobs.get(blobKey));
      return { restore: await backUpAll(), file };
    };
    let backup: ReturnType<typeof backUpWithFile> | undefined;
    beforeTurn = async (turn) => void (await (backup ??= backUpWithFile(turn)));
    const jobId = await execute(caller, 'code,title\nA,a\nB,b\n');
    // The job has its report before its workflow has removed the file.
    await (await exchange.temporal.client()).workflow.getHandle(jobId).result();
    const { restore, file } = await backup!;

    await restore();
    const { blobKey, status } = await exchange.imports.get(caller.tenantId, jobId);
    expect([status, await codesOf(caller)]).toEqual(['Executing', []]);
    await exchange.blobs.put(blobKey, Readable.from([file]));
    await admin.query(`UPDATE import_job SET started_at = now() - interval '2 minutes', progress_at = NULL`);
    await exchange.starter.startOverdueJobs();

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: 2,
    });
    expect(await codesOf(caller)).toEqual(['A', 'B']);
  });

  it('can be executed again where the database does not know that it was', async () => {
    workers = 1;
    const caller = aCaller();
    let lost: Promise<unknown> | undefined;
    beforeTurn = () =>
      (lost ??= admin.query(
        `UPDATE import_job SET status = 'Mapped', caller = NULL, executed_at = NULL, started_at = NULL`,
      )).then(() => undefined);
    const jobId = await execute(caller, `code,title\n${lines.join('\n')}\n`);
    const statusOf = async () => (await exchange.imports.get(caller.tenantId, jobId)).status;
    const handle = (await exchange.temporal.client()).workflow.getHandle(jobId);
    await handle.result();
    expect(await statusOf()).toBe('Mapped');

    expect((await exchange.as(caller).post(`/imports/${jobId}/execute`)).status).toBe(202);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: ROWS,
    });
  });
});
