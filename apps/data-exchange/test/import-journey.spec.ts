import { aCaller } from '@plinth/testing/http';
import { failedRowStore } from '../src/store/failed-row-store';
import { aRawWorkbook, inlineCell, sheetOf } from './a-zip';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

/** A half of a surrogate pair cannot be written in a text file. */
const NAMES = ['na\0me', 'half'];

const aWorkbookWithNames = (names: readonly string[]): Uint8Array => {
  const cells = (row: number, texts: readonly string[]) =>
    texts.map((text, column) => inlineCell(`${'ABC'[column]}${row}`, text)).join('');
  const rows = `<row r="1">${cells(1, names)}</row><row r="2">${cells(2, ['A', 'a', 'b'])}</row>`;
  return aRawWorkbook({ 'xl/worksheets/sheet1.xml': sheetOf(rows) });
};

describe('an import', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  it('writes the rows of an upload into the table of their owner', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const uploaded = await upload(exchange, caller, 'Code,Title,Stock\nA1,Apple,3\nB2,"Bread, dark",\n');
    expect(uploaded.status).toBe(201);
    expect(uploaded.headers.get('location')).toBe(`/api/v1/imports/${uploaded.body.id}`);
    expect(uploaded.body).toMatchObject({
      definitionName: 'Shop.Articles',
      originalFileName: 'articles.csv',
      mimeType: 'text/csv',
      status: 'Created',
      completedAt: null,
    });
    const address = `/imports/${uploaded.body.id}`;

    const { body: preview } = await http.post(`${address}/preview`);
    expect(preview.headers).toEqual(['Code', 'Title', 'Stock']);
    expect(preview.previewRows).toEqual([
      ['A1', 'Apple', '3'],
      ['B2', 'Bread, dark', ''],
    ]);
    expect(preview.suggestions).toEqual([
      { sourceColumn: 'Code', targetProperty: 'code', confidence: 'Exact' },
      { sourceColumn: 'Title', targetProperty: 'title', confidence: 'Exact' },
      { sourceColumn: 'Stock', targetProperty: 'stock', confidence: 'Exact' },
    ]);
    expect(preview.fieldMetadata[0]).toEqual({
      propertyPath: 'code',
      clrTypeName: 'String',
      displayName: 'Code',
      description: null,
      isRequired: true,
    });

    expect((await http.put(`${address}/mappings`, { mappings: preview.suggestions })).status).toBe(204);
    const dry = await http.post(`${address}/dry-run`);
    expect(dry.body).toMatchObject({
      finalStatus: 'Completed',
      totalRows: 2,
      insertedRows: 2,
      succeededRows: 2,
    });
    expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);

    const executed = await http.post(`${address}/execute`, '', {
      headers: { 'content-type': 'application/json' },
    });
    expect(executed.status).toBe(202);
    expect(executed.headers.get('location')).toBe(`/api/v1${address}`);
    const report = await reportOf(exchange, caller, uploaded.body.id);
    expect(report).toMatchObject({
      importJobId: uploaded.body.id,
      finalStatus: 'Completed',
      totalRows: 2,
      succeededRows: 2,
      insertedRows: 2,
      updatedRows: 0,
      failedRows: 0,
      skippedRows: 0,
      rowErrors: [],
    });
    expect(report.duration).toMatch(/^PT(\d+H)?(\d+M)?\d+(\.\d+)?S$/);
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([
      { code: 'A1', title: 'Apple', stock: '3' },
      { code: 'B2', title: 'Bread, dark', stock: null },
    ]);
    expect((await http.get(`${address}/correction-file`)).status).toBe(204);
  });

  it('returns failed rows in a correction file that can be corrected and imported again', async () => {
    const caller = aCaller();
    const lines = [
      'Code;Title;Stock;Remark',
      'A1;Apfel;3;gut',
      'B2;;5;grün',
      'C3;Käse;viele;"a;b"',
      'A1;Birne;1;x',
      ';;;',
    ];
    const { jobId, report } = await importFile(exchange, caller, Buffer.from(lines.join('\r\n'), 'latin1'));

    expect(report).toMatchObject({
      finalStatus: 'PartiallyCompleted',
      totalRows: 4,
      succeededRows: 1,
      failedRows: 3,
    });
    expect(
      report.rowErrors.map(({ rowNumber, kind, errorCodes }: never) => [rowNumber, kind, errorCodes]),
    ).toEqual([
      [3, 'Validation', ['Service:Validation:NotEmptyValidator']],
      [4, 'Conversion', ['Service:Conversion:Integer']],
      [5, 'Identity', ['Service:Identity:DuplicateKey']],
    ]);
    expect(report.rowErrors[1].message).toContain('Stock');
    expect(report.rowErrors[1].message).toContain('viele');
    expect(report.rowErrors[2].message).toContain('Row 2');

    const file = await exchange.as(caller).get(`/imports/${jobId}/correction-file`);
    expect(file.headers.get('content-type')).toBe('application/octet-stream');
    expect(file.headers.get('content-disposition')).toContain('articles_errors.csv');
    const bytes = await rawCorrectionFile(exchange, caller, jobId);
    const text = bytes.toString('latin1');
    expect(text.split('\r\n')[0]).toBe('Code;Title;Stock;Remark;_Errors');
    expect(text.split('\r\n')[1]).toMatch(/^B2;;5;grün;/);
    expect(text).toContain('"a;b"');

    const repaired = text
      .replace('B2;;', 'B2;Brot;')
      .replace(';viele;', ';12;')
      .replace('A1;Birne;', 'D4;Birne;');
    const again = await importFile(exchange, caller, Buffer.from(repaired, 'latin1'));
    expect(again.report).toMatchObject({ finalStatus: 'Completed', insertedRows: 3, failedRows: 0 });
    expect((await exchange.shop.rows(caller.tenantId)).map(({ title }) => title)).toEqual([
      'Apfel',
      'Brot',
      'Käse',
      'Birne',
    ]);
  });

  it('shows the rows of its errors where that is asked for, before and after it ran', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const long = 'x'.repeat(10_001);
    const rows = `A1,Apple,many\n${long},,1\nC3\n`;
    const { body: job } = await upload(exchange, caller, `Code,Title,Stock\n${rows}`);
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    await http.put(`/imports/${job.id}/mappings`, { mappings: preview.suggestions });
    const shown = {
      headers: ['Code', 'Title', 'Stock'],
      cells: [['A1', 'Apple', 'many'], undefined, ['C3', '', '']],
    };
    const read = ({ headers, rowErrors }: { headers: unknown; rowErrors: { cells?: string[] }[] }) => ({
      headers,
      cells: rowErrors.map(({ cells }) => cells),
    });

    const { body: dry } = await http.post(`/imports/${job.id}/dry-run?includeCells=true`);
    expect(read(dry)).toEqual(shown);
    expect((await http.post(`/imports/${job.id}/dry-run`)).body).not.toHaveProperty('headers');

    await http.post(`/imports/${job.id}/execute`);
    const report = await reportOf(exchange, caller, job.id);
    expect(report.rowErrors[0]).not.toHaveProperty('cells');
    const { body: full } = await http.get(`/imports/${job.id}/report?includeCells=true`);
    expect(read(full)).toEqual(shown);
  });

  it('counts the errors of all failed rows in groups where that is asked for, before and after it ran', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    // More than a report lists, and the rarest error behind all that it lists.
    const rows = Array.from({ length: 1_100 }, (_, index) => `A${index},Apple,many`);
    const file = ['Code,Title,Stock', ...rows, 'B1,,1', 'B2,Berry,1'].join('\n');
    const { body: job } = await upload(exchange, caller, file);
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    await http.put(`/imports/${job.id}/mappings`, { mappings: preview.suggestions });
    const groups = {
      groupedRows: 1_101,
      errorGroups: [
        { kind: 'Conversion', column: 'Stock', code: 'Service:Conversion:Integer', count: 1_100 },
        { kind: 'Validation', column: 'Title', code: 'Service:Validation:NotEmptyValidator', count: 1 },
      ],
    };

    const { body: dry } = await http.post(`/imports/${job.id}/dry-run?includeGroups=true`);
    expect(dry).toMatchObject(groups);
    expect(dry.rowErrors).toHaveLength(1_000);
    await http.post(`/imports/${job.id}/execute`);
    expect(await reportOf(exchange, caller, job.id)).not.toHaveProperty('errorGroups');
    const { body: report } = await http.get(`/imports/${job.id}/report?includeGroups=true`);
    expect(report.errorGroups).toEqual(dry.errorGroups);
    expect(report).toMatchObject(groups);
  });

  it('reports updates of existing rows, also where no value differs', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title\nA1,Apple\n');
    const { report } = await importFile(exchange, caller, 'code,title\nA1,Apple\n');

    expect(report).toMatchObject({ insertedRows: 0, updatedRows: 1, succeededRows: 1 });
  });

  it('reads every type, and reports cells of another type', async () => {
    const caller = aCaller();
    const header = 'code,title,stock,price,new,since,seen at,kind\n';
    const good = 'A,a,1,12345678901234567890.5,yes,2026-11-21,2026-11-21 10:00,Food\n';
    const bad = 'B,b,-1,x,maybe,2026-02-30,noon,Drink\n';
    const { report } = await importFile(exchange, caller, header + good + bad);

    expect(report).toMatchObject({ insertedRows: 1, failedRows: 1 });
    expect(report.rowErrors[0].details.map(({ column, code }: never) => [column, code])).toEqual([
      ['stock', 'Service:Validation:RangeValidator'],
      ['price', 'Service:Conversion:Number'],
      ['new', 'Service:Conversion:Boolean'],
      ['since', 'Service:Conversion:Date'],
      ['seen at', 'Service:Conversion:Timestamp'],
      ['kind', 'Service:Validation:EnumValidator'],
    ]);
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([
      {
        stock: '1',
        price: '12345678901234567890.5',
        is_new: true,
        kind: 'food',
        seen_at: new Date('2026-11-21T10:00:00Z'),
      },
    ]);
  });

  it('finds the one row that the database does not accept', async () => {
    const caller = aCaller();
    const rows = Array.from({ length: 50 }, (_, row) => `K${row},${row === 33 ? 'unacceptable' : 'fine'}\n`);
    const { report } = await importFile(exchange, caller, `code,title\n${rows.join('')}`);

    expect(report).toMatchObject({ insertedRows: 49, failedRows: 1 });
    expect(report.rowErrors).toMatchObject([{ rowNumber: 35, kind: 'Persistence' }]);
    expect(JSON.stringify(report)).not.toMatch(/violates|constraint "|SQL/);
  });

  it.each([
    ['insert', { insertedRows: 1, updatedRows: 0, skippedRows: 1 }],
    ['update', { insertedRows: 0, updatedRows: 1, skippedRows: 1 }],
    ['upsert', { insertedRows: 1, updatedRows: 1, skippedRows: 0 }],
  ])('in the mode %s counts rows that the mode excludes as skipped', async (mode, expected) => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title\nA,a\n');
    const { report } = await importFile(exchange, caller, 'code,title\nA,changed\nB,b\n', { mode });

    expect(report).toMatchObject({ finalStatus: 'Completed', totalRows: 2, failedRows: 0, ...expected });
  });

  it('with onError abort writes nothing when a row fails', async () => {
    const caller = aCaller();
    const content = 'code,title\nA,a\nB,\nC,c\n';
    const dryId = await mappedImport(exchange, caller, content);
    const { body: dry } = await exchange.as(caller).post(`/imports/${dryId}/dry-run`, { onError: 'abort' });
    const { report } = await importFile(exchange, caller, content, { onError: 'abort' });

    const counts = { finalStatus: 'Failed', totalRows: 3, succeededRows: 0, failedRows: 1, skippedRows: 2 };
    expect(dry).toMatchObject(counts);
    expect(report).toMatchObject(counts);
    expect(report.rowErrors).toMatchObject([{ rowNumber: 3 }]);
    expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
  });

  it('with onError abort writes all rows when none fails', async () => {
    const caller = aCaller();
    const { report } = await importFile(exchange, caller, 'code,title\nA,a\nB,b\n', { onError: 'abort' });

    expect(report).toMatchObject({ finalStatus: 'Completed', insertedRows: 2 });
    expect(await exchange.shop.rows(caller.tenantId)).toHaveLength(2);
  });

  it('of a header alone completes with no rows', async () => {
    const { report } = await importFile(exchange, aCaller(), 'code,title\n');

    expect(report).toMatchObject({ finalStatus: 'Completed', totalRows: 0 });
  });

  it('ends Failed when all rows fail', async () => {
    const { report } = await importFile(exchange, aCaller(), 'code,title\nA,\nB,\n');

    expect(report).toMatchObject({ finalStatus: 'Failed', totalRows: 2, failedRows: 2 });
  });

  it('numbers rows by records, blank lines included, and checks the number of cells', async () => {
    const caller = aCaller();
    const content = 'code,title,title\nA,a,x\n\nB,"b\n2",y,too many\nC,c\n"D,d\nE,e\n';
    const { report } = await importFile(exchange, caller, content);

    expect(report).toMatchObject({ totalRows: 5, insertedRows: 3, failedRows: 2 });
    expect(report.rowErrors.map(({ rowNumber, errorCodes }: never) => [rowNumber, errorCodes])).toEqual([
      [4, ['Service:Conversion:Columns']],
      [6, ['Service:Conversion:UnclosedQuote']],
    ]);
    expect((await exchange.shop.rows(caller.tenantId)).map(({ code }) => code)).toEqual(['A', 'C', 'E']);
  });

  it('has no row where all cells are blank, as its dry-run and its preview have none', async () => {
    const caller = aCaller();
    const content = `code,title\nA,a\n${',\n'.repeat(9_000)}B,\n , \nC,c\n,,,\n`;
    const jobId = await mappedImport(exchange, caller, content);
    const http = exchange.as(caller);
    const counts = { totalRows: 3, failedRows: 1 };

    expect((await http.post(`/imports/${jobId}/preview`)).body.previewRowNumbers).toEqual([2, 9_003, 9_005]);
    expect((await http.post(`/imports/${jobId}/dry-run`)).body).toMatchObject(counts);
    const aborted = await http.post(`/imports/${jobId}/dry-run`, { onError: 'abort' });
    expect(aborted.body).toMatchObject({ ...counts, skippedRows: 2 });
    await http.post(`/imports/${jobId}/execute`);
    const report = await reportOf(exchange, caller, jobId);
    expect(report).toMatchObject({ ...counts, insertedRows: 2, rowErrors: [{ rowNumber: 9_003 }] });
  });

  it('lists failed rows in their order page by page, also those that the version before stored', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const rows = Array.from({ length: 2_500 }, (_, index) => `A${index},${index % 2 ? '' : 'a'}\n`);
    const { jobId } = await importFile(exchange, caller, `code,title\n${rows.join('')}`);
    const codesBefore = ['Last', 'First', 'Second', 'Third'];
    const errorsBefore = codesBefore.map((code) => ({ column: 'title', value: null, code, message: '' }));
    await exchange.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO import_failed_row (tenant_id, job_id, row_number, kind, details, cells)
        SELECT ${tenantId}::uuid, ${jobId}::uuid, number, 'Validation', ${JSON.stringify(errorsBefore)}::jsonb,
          '["before", ""]'
        FROM generate_series(2, 2_500, 2) AS number`,
    );
    const failedRows = failedRowStore(exchange.db);
    const page = { take: 1_000, bytesMax: 1e6, withCells: true };

    const listed: number[] = [];
    for (let after = 1; ;) {
      const found = await failedRows.list(tenantId, jobId, { ...page, after });
      if (found.length === 0) break;
      for (const { rowNumber, cells } of found)
        expect(cells).toEqual([rowNumber % 2 ? `A${rowNumber - 2}` : 'before', '']);
      listed.push(...found.map(({ rowNumber }) => rowNumber));
      after = listed.at(-1)!;
    }
    expect(listed).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 2));

    const few = await failedRows.list(tenantId, jobId, { ...page, after: 1, bytesMax: 500 });
    expect(few.length).toBeGreaterThan(1);
    expect(few.length).toBeLessThan(10);
    expect(await failedRows.list(tenantId, jobId, { ...page, after: 1, bytesMax: 1 })).toHaveLength(1);
    const [withoutCells] = await failedRows.list(tenantId, jobId, { ...page, after: 2, withCells: false });
    expect(withoutCells).toMatchObject({ rowNumber: 3, kind: 'Validation', cells: [] });

    // Groups of the same size are in the order in which they were found.
    expect(await failedRows.groups(tenantId, jobId)).toMatchObject({
      rows: 2_500,
      groups: [
        ...errorsBefore.map((example) => ({ kind: 'Validation', count: 1_250, example })),
        { kind: 'Validation', count: 1_250, example: { value: '', code: expect.stringMatching(/NotEmpty/) } },
      ],
    });
  });

  it('reads failed rows with few statements where each batch has few of them', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,\n');
    await exchange.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO import_failed_part (tenant_id, job_id, last_row, row_count, details, cells)
        SELECT ${tenantId}::uuid, ${jobId}::uuid, 2 * number, 2,
          format(E'[%s,"Validation",[]]\n[%s,"Validation",[]]', 2 * number - 1, 2 * number), E'["a"]\n["b"]'
        FROM generate_series(2, 500) AS number`,
    );
    let statements = 0;
    const counted = failedRowStore({
      ...exchange.db,
      inTenant: (tenant, work) =>
        exchange.db.inTenant(tenant, (tx) => {
          const $queryRawUnsafe = (...statement: Parameters<typeof tx.$queryRawUnsafe>) => {
            statements++;
            return tx.$queryRawUnsafe(...statement);
          };
          return work({ $queryRawUnsafe } as typeof tx);
        }),
    });
    const numbersOf = async (after: number, take: number, bytesMax = 1e6) =>
      (await counted.list(tenantId, jobId, { after, take, bytesMax, withCells: true })).map(
        ({ rowNumber }) => rowNumber,
      );

    const all = [2, ...Array.from({ length: 998 }, (_, index) => index + 3)];
    expect(await numbersOf(1, 1_000)).toEqual(all);
    expect(statements).toBe(2);
    // A page may begin in the middle of what was stored together, and end there.
    expect(await numbersOf(3, 4)).toEqual([4, 5, 6, 7]);
    expect(await numbersOf(3, 1)).toEqual([4]);
    expect(await numbersOf(3, 1_000, 27 * 4)).toEqual([4, 5, 6, 7]);
  });

  it.each([
    ['a text', 'articles.csv', `${NAMES[0]},${NAMES[1]},title\nA,a,b\n`],
    ['a workbook', 'articles.xlsx', aWorkbookWithNames(['na_x0000_me', 'half_xD800_', 'title'])],
  ])(
    'shows names of columns that cannot be stored with visible characters: %s',
    async (_of, fileName, file) => {
      const caller = aCaller();
      const { body: job } = await upload(exchange, caller, file, { fileName });

      const { status, body } = await exchange.as(caller).post(`/imports/${job.id}/preview`);

      expect(status).toBe(200);
      expect(body.headers).toEqual(['na\u2400me', expect.stringMatching(/^half\ufffd?$/), 'title']);
    },
  );

  it('removes what the formula guard added, and nothing else', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, "code,title\nA,'=1+1\nB,''=x\nC,'tis\nD,=raw\n");

    expect((await exchange.shop.rows(caller.tenantId)).map(({ title }) => title)).toEqual([
      '=1+1',
      "'=x",
      "'tis",
      '=raw',
    ]);
  });
});

async function rawCorrectionFile(
  exchange: DataExchange,
  caller: ReturnType<typeof aCaller>,
  jobId: string,
): Promise<Buffer> {
  const { url, headers } = exchange.as(caller).address('GET', `/imports/${jobId}/correction-file`);
  return Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
}
