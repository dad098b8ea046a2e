import ExcelJS from 'exceljs';
import type { Caller } from '@plinth/kernel/caller';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import {
  exportFile,
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const aWorkbook = async (sheets: Record<string, ExcelJS.CellValue[][]>): Promise<Uint8Array> => {
  const workbook = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) {
    const sheet = workbook.addWorksheet(name);
    for (const row of rows) sheet.addRow(row);
  }
  return new Uint8Array((await workbook.xlsx.writeBuffer()) as ArrayBuffer);
};

describe('the import of a workbook', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const daysOf = async ({ tenantId }: Caller) =>
    (
      await exchange.shop.query('SELECT code, since::text FROM article WHERE tenant_id = $1 ORDER BY code', [
        tenantId,
      ])
    ).rows;

  it('finds its header below titles, and takes another row for it where that is said', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const rows = ['A', 'B', 'C'].map((code, index) => [code, `Title ${code}`, index]);
    const table = [['Code', 'Title', 'Stock'], ...rows];
    const content = await aWorkbook({ Articles: [['Articles of spring'], [], ['Final'], ...table] });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    const previewOf = async () => (await http.post(`/imports/${job.id}/preview`)).body;
    expect(await previewOf()).toMatchObject({
      headers: ['Code', 'Title', 'Stock'],
      headerRow: 4,
      previewRows: rows.map((row) => row.map(String)),
      previewRowNumbers: [5, 6, 7],
      findings: [
        {
          code: 'Preamble',
          detail: 'Rows 1 to 3 are text above the table: they do not have the 3 cells of most rows.',
        },
      ],
    });

    const corrected = await http.put(`/imports/${job.id}/format`, { headerRow: 3 });
    expect(corrected).toMatchObject({ status: 200, body: { headerRow: 3 } });
    expect(await previewOf()).toMatchObject({ headers: ['Final'], headerRow: 3, findings: [] });
    await http.put(`/imports/${job.id}/format`, { headerRow: 0 });
    const columns = ['Column 1', 'Column 2', 'Column 3'];
    expect(await previewOf()).toMatchObject({ headers: columns, previewRowNumbers: [1, 3, 4, 5, 6, 7] });
  });

  it('waits for its preview while three others are read, as text files do not', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({ Articles: [['Code'], ['A']] });
    const { body: workbook } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    const { body: text } = await upload(exchange, caller, 'code,title\nA,a\n');
    const others = [aCaller(), aCaller(), aCaller()];
    for (const other of others) expect(exchange.workbookPlaces.tryEnter(other)).toBe(true);

    const preview = http.post(`/imports/${workbook.id}/preview`);
    await eventually(() => exchange.workbookPlaces.waitingCount === 1);
    expect((await http.post(`/imports/${text.id}/preview`)).status).toBe(200);

    for (const other of others) exchange.workbookPlaces.leave(other);
    expect((await preview).body.headers).toEqual(['Code']);
  });

  it('waits for its dry-run while two others run, beside which previews of workbooks have a place', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({
      Articles: [
        ['Code', 'Title'],
        ['A', 'a'],
      ],
    });
    const job = await mappedImport(exchange, caller, content);
    const others = [aCaller(), aCaller()];
    for (const other of others) expect(exchange.workbookDryRunPlaces.tryEnter(other)).toBe(true);

    const dryRun = http.post(`/imports/${job}/dry-run`, {});
    await eventually(() => exchange.workbookDryRunPlaces.waitingCount === 1);
    const { body: another } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    expect((await http.post(`/imports/${another.id}/preview`)).status).toBe(200);

    for (const other of others) exchange.workbookDryRunPlaces.leave(other);
    expect((await dryRun).body).toMatchObject({ insertedRows: 1 });
  });

  it('waits for room for its files where others have all of it, and its previews and dry-runs are 503', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({
      Articles: [
        ['Code', 'Title'],
        ['A', 'a'],
      ],
    });
    const job = await mappedImport(exchange, caller, content);
    const ofOthers = exchange.scratch.reserve(aCaller());
    ofOthers.grow(exchange.config.EXCHANGE_SCRATCH_BYTES_MAX);
    for (const step of ['preview', 'dry-run']) {
      const refused = await http.post(`/imports/${job}/${step}`, step === 'preview' ? undefined : {});
      expect(refused).toMatchObject({ status: 503, body: { type: expect.stringContaining('overloaded') } });
      expect(refused.headers.get('retry-after')).toBe('10');
    }

    const attempts = jest.spyOn(exchange.scratch, 'reserve');
    expect((await http.post(`/imports/${job}/execute`)).status).toBe(202);
    await eventually(() => attempts.mock.calls.length > 1);
    attempts.mockRestore();
    expect((await http.get(`/imports/${job}`)).body.status).toBe('Executing');
    ofOthers.release();
    expect(await reportOf(exchange, caller, job)).toMatchObject({ insertedRows: 1, failedRows: 0 });
    expect(exchange.scratch.usedBytes).toBe(0);
  });

  it('reads the types of its cells', async () => {
    const caller = aCaller();
    const content = await aWorkbook({
      Articles: [
        ['Code', 'Title', 'Stock', 'New', 'Since', 'Seen at', 'Price'],
        [
          'A',
          { richText: [{ text: 'rich ' }, { text: 'text' }] },
          3,
          true,
          new Date('2026-11-21'),
          new Date('2026-11-21T10:30:00Z'),
          0.15,
        ],
        [],
        [
          'B',
          { formula: 'CONCATENATE("for","mula")', result: 'formula' },
          { formula: '1+1', result: 2 },
          false,
        ],
        ['C', { error: '#REF!' }, { error: '#N/A' }],
        ['D', { text: 'link', hyperlink: 'https://example.org' }],
      ],
    });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    expect(job.mimeType).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    const { report } = await importFile(exchange, caller, content);

    expect(report).toMatchObject({ totalRows: 4, insertedRows: 3, failedRows: 1 });
    expect(report.rowErrors).toMatchObject([{ rowNumber: 5, kind: 'Conversion' }]);
    expect(report.rowErrors[0].message).toContain('#REF!');
    expect(report.rowErrors[0].message).toContain('#N/A');
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([
      {
        code: 'A',
        title: 'rich text',
        stock: '3',
        is_new: true,
        price: '0.15',
        seen_at: new Date('2026-11-21T10:30:00Z'),
      },
      { code: 'B', title: 'formula', stock: '2', is_new: false },
      { code: 'D', title: 'link' },
    ]);
  });

  it('name the column of an error of a formula, also where another property has its name', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const rows: ExcelJS.CellValue[][] = [
      ['code', 'title', 'Heading'],
      ['A', { error: '#REF!' }, 'a'],
      ['B', '1', ''],
    ];
    const { body: job } = await upload(exchange, caller, await aWorkbook({ Articles: rows }), {
      fileName: 'articles.xlsx',
    });
    await http.post(`/imports/${job.id}/preview`);
    const mappings = [
      { sourceColumn: 'code', targetProperty: 'code' },
      { sourceColumn: 'title', targetProperty: 'stock' },
      { sourceColumn: 'Heading', targetProperty: 'title' },
    ];
    expect((await http.put(`/imports/${job.id}/mappings`, { mappings })).status).toBe(204);
    await http.post(`/imports/${job.id}/execute`);
    const { rowErrors } = await reportOf(exchange, caller, job.id);

    expect(rowErrors).toMatchObject([
      { rowNumber: 2, message: expect.stringMatching(/^title holds #REF!/) },
      { rowNumber: 3, message: expect.stringContaining('Heading') },
    ]);
  });

  const correctionOf = async (caller: Caller, jobId: string): Promise<ExcelJS.Workbook> => {
    const { url, headers } = exchange.as(caller).address('GET', `/imports/${jobId}/correction-file`);
    const correction = new ExcelJS.Workbook();
    await correction.xlsx.load(await (await fetch(url, { headers })).arrayBuffer());
    return correction;
  };

  it('returns failed rows as a workbook that can be imported again', async () => {
    const caller = aCaller();
    const content = await aWorkbook({
      S: [
        ['Code', 'Title', 'Note'],
        ['A', '', '=1+1'],
        ['B', 'b', ''],
      ],
    });
    const { jobId } = await importFile(exchange, caller, content);
    const correction = await correctionOf(caller, jobId);
    const sheet = correction.worksheets[0]!;

    expect(sheet.getRow(1).values).toEqual([undefined, 'Code', 'Title', 'Note', '_Errors']);
    expect(sheet.getRow(2).getCell(3).value).toBe('=1+1');
    sheet.getRow(2).getCell(2).value = 'repaired';
    const { report } = await importFile(
      exchange,
      caller,
      new Uint8Array((await correction.xlsx.writeBuffer()) as ArrayBuffer),
    );
    expect(report).toMatchObject({ finalStatus: 'Completed', insertedRows: 1 });
  });

  it('reads the requested sheet', async () => {
    const caller = aCaller();
    const content = await aWorkbook({
      First: [
        ['Code', 'Title'],
        ['A', 'first'],
      ],
      Second: [
        ['Title', 'Code'],
        ['second', 'B'],
      ],
    });
    const jobId = await mappedImport(exchange, caller, content);
    await exchange.as(caller).post(`/imports/${jobId}/execute`, { sheet: 'Second' });

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({ insertedRows: 1 });
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([{ code: 'B', title: 'second' }]);
  });

  it('returns failed rows in the columns of the sheet that was read', async () => {
    const caller = aCaller();
    const content = await aWorkbook({
      First: [['Code', 'Title', 'Stock']],
      Second: [
        ['Remark', 'Stock', 'Title', 'Code'],
        ['keep me', 'many', 'second', 'B'],
      ],
    });
    const jobId = await mappedImport(exchange, caller, content);
    await exchange.as(caller).post(`/imports/${jobId}/execute`, { sheet: 'Second' });
    await reportOf(exchange, caller, jobId);

    const sheet = (await correctionOf(caller, jobId)).worksheets[0]!;
    expect(sheet.getRow(1).values).toEqual([undefined, 'Remark', 'Stock', 'Title', 'Code', '_Errors']);
    expect((sheet.getRow(2).values as unknown[]).slice(1, 5)).toEqual(['keep me', 'many', 'second', 'B']);
  });

  it('returns failed rows in the columns of the sheet that was read, where another one was previewed', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({
      First: [
        ['Remark', 'Code', 'Title'],
        ['keep me', 'A', ''],
      ],
      Second: [
        ['Code', 'Title'],
        ['B', 'second'],
      ],
    });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    const { body: preview } = await http.post(`/imports/${job.id}/preview?sheet=Second`);
    await http.put(`/imports/${job.id}/mappings`, { mappings: preview.suggestions });

    const dry = await http.post(`/imports/${job.id}/dry-run?includeCells=true`);
    await http.post(`/imports/${job.id}/execute`);
    await reportOf(exchange, caller, job.id);

    expect(dry.body.headers).toEqual(['Remark', 'Code', 'Title']);
    const sheet = (await correctionOf(caller, job.id)).worksheets[0]!;
    expect(sheet.getRow(1).values).toEqual([undefined, 'Remark', 'Code', 'Title', '_Errors']);
    expect((sheet.getRow(2).values as unknown[]).slice(1, 3)).toEqual(['keep me', 'A']);
  });

  it('reports which mapped columns a sheet lacks, and imports nothing of it', async () => {
    const caller = aCaller();
    const content = await aWorkbook({
      First: [['Code', 'Title', 'Stock']],
      Second: [
        ['Code', 'Label'],
        ['B', 'second'],
      ],
    });
    const jobId = await mappedImport(exchange, caller, content);
    const dry = await exchange.as(caller).post(`/imports/${jobId}/dry-run`, { sheet: 'Second' });
    await exchange.as(caller).post(`/imports/${jobId}/execute`, { sheet: 'Second' });

    const reason = 'The sheet lacks columns that are mapped: "Title", "Stock".';
    expect(dry.status).toBe(422);
    expect(dry.body).toMatchObject({
      detail: reason,
      errors: { sheet: ['Service:Validation:EnumValidator'] },
    });
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Failed',
      errorMessage: reason,
      totalRows: 0,
    });
    expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
  });

  it('lists the sheets, and reads the one that is named', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({
      Notes: [['Read me']],
      Data: [
        ['Code', 'Title', 'Since'],
        ['B', 'second', '31.12.2026'],
      ],
    });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'a.xlsx' });
    const address = `/imports/${job.id}`;

    expect((await http.get(`${address}/format`)).body).toMatchObject({
      kind: 'xlsx',
      delimiter: null,
      sheets: ['Notes', 'Data'],
      sheet: 'Notes',
    });
    expect((await http.post(`${address}/preview`)).body.headers).toEqual(['Read me']);
    expect((await http.post(`${address}/preview?sheet=Data`)).body.headers).toEqual([
      'Code',
      'Title',
      'Since',
    ]);
    expect((await http.post(`${address}/preview?sheet=None`)).status).toBe(422);
    expect((await http.put(`${address}/format`, { sheet: 'None' })).status).toBe(422);
    expect((await http.put(`${address}/format`, { delimiter: ';' })).status).toBe(422);
    const corrected = await http.put(`${address}/format`, { sheet: 'Data', dateOrder: 'DayMonthYear' });
    expect(corrected.body).toMatchObject({ sheet: 'Data', dateOrder: 'DayMonthYear' });
    const { body: preview } = await http.post(`${address}/preview`);
    await http.put(`${address}/mappings`, { mappings: preview.suggestions });
    await http.post(`${address}/execute`);
    expect(await reportOf(exchange, caller, job.id)).toMatchObject({ insertedRows: 1, failedRows: 0 });
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([{ code: 'B', title: 'second' }]);
  });

  it('finds how its dates are written that are texts', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const table = (...dates: ExcelJS.CellValue[]) =>
      aWorkbook({
        Articles: [['Code', 'Title', 'Since'], ...dates.map((date, index) => [index, 'a', date])],
      });
    const formatOf = async (content: Uint8Array) => {
      const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
      await http.post(`/imports/${job.id}/preview`);
      return (await http.get(`/imports/${job.id}/format`)).body;
    };
    const day = new Date('2026-11-21');
    const mixed = await table(day, '31.12.2026', '05.06.2026');
    expect(await formatOf(mixed)).toMatchObject({ dateOrder: 'DayMonthYear', dateOrderFrom: 'File' });
    expect(await formatOf(await table('12/31/2026', '05/06/2026'))).toMatchObject({
      dateOrder: 'MonthDayYear',
    });
    expect(await formatOf(await table('05/06/2026'))).toMatchObject({ dateOrderFrom: 'Culture' });
    expect(await formatOf(await table(day))).toMatchObject({ dateOrder: null, dateOrderFrom: null });

    const { report } = await importFile(exchange, caller, mixed);
    expect(report).toMatchObject({ insertedRows: 3, failedRows: 0 });
  });

  it('reads dates that fit two orders as whoever mapped it saw them, in whichever culture others look at it', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = await aWorkbook({
      Articles: [
        ['Code', 'Title', 'Since'],
        ['A', 'a', '05/06/2026'],
      ],
    });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    const previewIn = async (culture: string) =>
      (await http.post(`/imports/${job.id}/preview`, undefined, { headers: { 'accept-language': culture } }))
        .body;
    const { suggestions } = await previewIn('fr');
    await previewIn('en-US');
    await http.put(`/imports/${job.id}/mappings`, { mappings: suggestions });
    await previewIn('en-US');

    expect((await http.get(`/imports/${job.id}/format`)).body).toMatchObject({ dateOrder: 'DayMonthYear' });
    await http.post(`/imports/${job.id}/execute`);
    expect(await reportOf(exchange, caller, job.id)).toMatchObject({ insertedRows: 1, failedRows: 0 });
    expect(await daysOf(caller)).toEqual([{ code: 'A', since: '2026-06-05' }]);
  });

  it('reads the dates of a sheet as that sheet shows them, whichever others were looked at', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const header = ['Code', 'Title', 'Since'];
    const content = await aWorkbook({
      'Day first': [header, ['A', 'a', '31/12/2026'], ['B', 'b', '05/06/2026']],
      'Month first': [header, ['C', 'c', '12/31/2026'], ['D', 'd', '05/06/2026']],
      'Not seen': [header, ['E', 'e', '05/06/2026']],
    });
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });
    const previewOf = async (sheet: string) =>
      (await http.post(`/imports/${job.id}/preview?sheet=${encodeURIComponent(sheet)}`)).body;
    await previewOf('Day first');
    const { suggestions } = await previewOf('Month first');
    await http.put(`/imports/${job.id}/mappings`, { mappings: suggestions });
    const tryOut = async (sheet: string) => (await http.post(`/imports/${job.id}/dry-run`, { sheet })).body;

    expect(await tryOut('Month first')).toMatchObject({ insertedRows: 2, failedRows: 0 });
    await previewOf('Not seen');
    expect(await tryOut('Not seen')).toMatchObject({ insertedRows: 0, failedRows: 1 });
    await http.post(`/imports/${job.id}/execute`, { sheet: 'Day first' });
    expect(await reportOf(exchange, caller, job.id)).toMatchObject({ insertedRows: 2, failedRows: 0 });
    expect(await daysOf(caller)).toEqual([
      { code: 'A', since: '2026-12-31' },
      { code: 'B', since: '2026-06-05' },
    ]);
  });

  it('reads the first sheet that is not hidden, and the zeros that the format of a number asks for', async () => {
    const caller = aCaller();
    const workbook = new ExcelJS.Workbook();
    workbook.addWorksheet('Lists', { state: 'veryHidden' }).addRow(['Yes']);
    const sheet = workbook.addWorksheet('Articles');
    sheet.addRows([
      ['Code', 'Title'],
      [1067, 'a'],
    ]);
    sheet.getCell('A2').numFmt = '00000';
    const content = new Uint8Array((await workbook.xlsx.writeBuffer()) as ArrayBuffer);
    const { body: job } = await upload(exchange, caller, content, { fileName: 'articles.xlsx' });

    const http = exchange.as(caller);
    expect((await http.get(`/imports/${job.id}/format`)).body).toMatchObject({
      sheets: ['Lists', 'Articles'],
      sheet: 'Articles',
    });
    expect((await http.post(`/imports/${job.id}/preview`)).body.previewRows).toEqual([['01067', 'a']]);
  });

  it('restores an exported workbook without a change', async () => {
    const caller = aCaller();
    await importFile(
      exchange,
      caller,
      'code,title,stock,new,since,seen at\nA,=1+1,3,yes,2026-11-21,2026-11-21T10:30:00Z\nB,007,,no,,\n',
    );
    const { job } = await exportFile(exchange, caller, { format: 'xlsx' });
    const { url, headers } = exchange.as(caller).address('GET', `/exports/jobs/${job.id}/download`);
    const bytes = new Uint8Array(await (await fetch(url, { headers })).arrayBuffer());
    const other = aCaller();
    const { report } = await importFile(exchange, other, bytes);

    expect(report).toMatchObject({ insertedRows: 2, failedRows: 0 });
    const plain = async (tenantId: string) =>
      (await exchange.shop.rows(tenantId)).map((row) => ({
        ...row,
        id: null,
        tenant_id: null,
        import_job_id: null,
      }));
    expect(await plain(other.tenantId)).toEqual(await plain(caller.tenantId));
  });

  it('refuses damaged files, or fails with a reason', async () => {
    const caller = aCaller();
    const whole = await aWorkbook({
      S: [
        ['Code', 'Title'],
        ['A', 'a'],
      ],
    });
    const cut = whole.slice(0, whole.length / 2);
    const spoiled = whole.slice();
    spoiled.fill(7, 40, 400);

    expect((await upload(exchange, caller, cut)).status).toBe(422);
    const { body: job, status } = await upload(exchange, caller, spoiled);
    if (status === 201) {
      const preview = await exchange.as(caller).post(`/imports/${job.id}/preview`);
      expect([200, 422]).toContain(preview.status);
    } else expect([415, 422]).toContain(status);
  });
});
