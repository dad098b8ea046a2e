import { readFileSync } from 'node:fs';
import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { mappedImport, reportOf, startDataExchange, type DataExchange } from './start-data-exchange';
import { startWorkerProcess } from './worker-process';

const ROWS = 24_000;
const isBroken = (row: number) => row % 20 === 19;

const content = `code,title,stock\n${Array.from(
  { length: ROWS },
  (_, row) => `K${row},Title of ${row},${isBroken(row) ? 'none' : row}\n`,
).join('')}`;

describe('an import whose worker crashes', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it('continues in another worker with the same result', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const jobId = await mappedImport(exchange, caller, content);
    const release = await exchange.shop.hold(`K${(ROWS * 2) / 3}`);
    const first = await startWorkerProcess(exchange.environment);
    await http.post(`/imports/${jobId}/execute`);
    await eventually(async () => (await exchange.imports.get(caller.tenantId, jobId)).lastBatch >= 3);
    await first.kill();
    await release();
    const atDeath = await exchange.imports.get(caller.tenantId, jobId);
    expect(atDeath).toMatchObject({ status: 'Executing' });
    expect(atDeath.totalRows).toBeLessThan(ROWS);

    const second = await startWorkerProcess(exchange.environment);
    try {
      const report = await reportOf(exchange, caller, jobId);

      const failed = Array.from({ length: ROWS }, (_, row) => row).filter(isBroken);
      expect(report).toMatchObject({
        finalStatus: 'PartiallyCompleted',
        totalRows: ROWS,
        insertedRows: ROWS - failed.length,
        updatedRows: 0,
        skippedRows: 0,
        failedRows: failed.length,
      });
      expect(report.rowErrors.map(({ rowNumber }: { rowNumber: number }) => rowNumber)).toEqual(
        failed.slice(0, 1_000).map((row) => row + 2),
      );
      const { rows } = await exchange.shop.query(
        `SELECT count(*)::int AS count, count(*) FILTER (WHERE title = 'Title of ' || stock)::int AS right
         FROM article WHERE tenant_id = $1`,
        [caller.tenantId],
      );
      expect(rows).toEqual([{ count: ROWS - failed.length, right: ROWS - failed.length }]);
      const correction = await http.get(`/imports/${jobId}/correction-file`);
      expect(correction.text.trim().split('\r\n')).toHaveLength(failed.length + 1);
    } finally {
      await second.kill();
    }
  });
});

describe('an import of a large file', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it('needs no more memory than the import of a small file', async () => {
    const caller = aCaller();
    const rows = 50_000;
    const padding = 'x'.repeat(800);
    const large = Buffer.from(
      `code,title,remark\n${Array.from({ length: rows }, (_, row) => `K${row},${row % 10 === 0 ? '' : 'T'},${padding}\n`).join('')}`,
    );
    const jobId = await mappedImport(exchange, caller, large);
    // As the platform starts its workers: less for garbage, and no heap of the C library for each thread.
    const worker = await startWorkerProcess(
      { ...exchange.environment, MALLOC_ARENA_MAX: '2' },
      { nodeOptions: ['--max-old-space-size=96', '--max-semi-space-size=4'] },
    );
    try {
      await exchange.as(caller).post(`/imports/${jobId}/execute`);
      const report = await reportOf(exchange, caller, jobId);

      expect(report).toMatchObject({ totalRows: rows, failedRows: rows / 10, insertedRows: (rows / 10) * 9 });
      expect(peakMegabytes(worker.pid)).toBeLessThan(300);
    } finally {
      await worker.kill();
    }
  });
});

const peakMegabytes = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
