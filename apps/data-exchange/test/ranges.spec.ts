import { aCaller } from '@plinth/testing/http';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { mappedImport, reportOf, startDataExchange, type DataExchange } from './start-data-exchange';

const RANGE_BYTES = 120;

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
});
