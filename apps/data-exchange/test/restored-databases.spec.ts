import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { Client } from 'pg';
import type { RangeToImport } from '../src/app/import-range';
import { backUp } from './a-backup';
import { mappedImport, reportOf, startDataExchange, type DataExchange } from './start-data-exchange';

const ROWS = 200;
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
    let restore: (() => Promise<void>) | undefined;
    let isRestored = false;
    beforeTurn = async ({ range }) => {
      if (range === 1) restore ??= await backUpAll();
      if (range === 3 && !isRestored) {
        isRestored = true;
        expect((await codesOf(caller)).length).toBeGreaterThan(0);
        await restore!();
      }
    };

    const jobId = await execute(caller, `code,title\n${lines.join('\n')}\n`);

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      totalRows: ROWS,
      insertedRows: ROWS,
    });
    expect(await codesOf(caller)).toEqual(allCodes);
    expect(isRestored).toBe(true);
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
    const backups: { restore: () => Promise<void>; file: Buffer }[] = [];
    beforeTurn = async ({ tenantId, jobId }) => {
      if (backups.length > 0) return;
      const { blobKey } = await exchange.imports.get(tenantId, jobId);
      const file = await buffer(await exchange.blobs.get(blobKey));
      backups.push({ restore: await backUpAll(), file });
    };
    const jobId = await execute(caller, 'code,title\nA,a\nB,b\n');
    await reportOf(exchange, caller, jobId);
    const [backup] = backups;

    await backup!.restore();
    const { blobKey, status } = await exchange.imports.get(caller.tenantId, jobId);
    expect([status, await codesOf(caller)]).toEqual(['Executing', []]);
    await exchange.blobs.put(blobKey, Readable.from([backup!.file]));
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
