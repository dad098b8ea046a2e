import iconv from 'iconv-lite';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

describe('/imports/{id}/format', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const uploaded = async (caller: Caller, content: string | Uint8Array): Promise<string> =>
    (await upload(exchange, caller, content)).body.id;

  const correct = (caller: Caller, jobId: string, correction: object) =>
    exchange.as(caller).put(`/imports/${jobId}/format`, correction);

  it('detects numbers with a comma and dates with the day first', async () => {
    const caller = aCaller();
    const content =
      'code;title;price;since;seen at\nA;a;1.234,5;03.04.2026;03.04.2026 09:30\nB;b;7;2026-11-21;\n';
    const { jobId, report } = await importFile(exchange, caller, content);

    expect((await exchange.as(caller).get(`/imports/${jobId}/format`)).body).toEqual({
      kind: 'csv',
      encoding: 'utf-8',
      hasByteOrderMark: false,
      delimiter: ';',
      headerRow: 1,
      headerRows: 1,
      lastRow: 0,
      quote: '"',
      escape: 'Doubled',
      findings: [],
      decimalSeparator: ',',
      dateOrder: 'DayMonthYear',
      dateOrderFrom: 'File',
      sheets: null,
      sheet: null,
    });
    expect(report).toMatchObject({ insertedRows: 2, failedRows: 0 });
    expect(await shown(caller)).toMatchObject([
      { price: '1234.5', since: '2026-04-03', seen_at: new Date('2026-04-03T09:30:00Z') },
      { price: '7', since: '2026-11-21' },
    ]);
  });

  it.each([
    ['code,title,since\nA,a,04/13/2026\nB,b,01/02/2026\n', 'MonthDayYear', 'File'],
    ['code,title,since\nA,a,13/04/2026\nB,b,01/02/2026\n', 'DayMonthYear', 'File'],
    ['code,title,since\nA,a,2026/04/13\n', 'YearMonthDay', 'File'],
    ['code,title,since\nA,a,2026-04-13\n', null, null],
  ])('detects the order of dates from %j', async (content, dateOrder, dateOrderFrom) => {
    const caller = aCaller();
    const { body } = await exchange.as(caller).get(`/imports/${await uploaded(caller, content)}/format`);

    expect(body).toMatchObject({ dateOrder, dateOrderFrom, decimalSeparator: '.' });
  });

  it.each([
    ['en-US', 'MonthDayYear', '.'],
    ['fr-CA,fr;q=0.9', 'YearMonthDay', ','],
    ['de', 'DayMonthYear', ','],
  ])(
    'reads ambiguous cells by the conventions of the culture %s',
    async (language, dateOrder, decimalSeparator) => {
      const caller = aCaller();
      const content = 'code;title;price;since\nA;a;1,234;03/04/2026\n';
      const { body: job } = await upload(exchange, caller, content, { acceptLanguage: language });

      expect((await exchange.as(caller).get(`/imports/${job.id}/format`)).body).toMatchObject({
        dateOrder,
        dateOrderFrom: 'Culture',
        decimalSeparator,
      });
    },
  );

  it('can be corrected, and preview and import use the correction', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = iconv.encode(
      'code,title|price|since\nA,1|1,500|01/02/2026\nB,2|x|02/01/2026\n',
      'windows-1250',
    );
    const jobId = await uploaded(caller, content);
    await http.post(`/imports/${jobId}/preview`);
    const corrected = await correct(caller, jobId, {
      delimiter: '|',
      encoding: 'windows-1250',
      decimalSeparator: ',',
      dateOrder: 'DayMonthYear',
    });

    expect(corrected.status).toBe(200);
    expect(corrected.body).toMatchObject({
      delimiter: '|',
      encoding: 'windows-1250',
      dateOrderFrom: 'Caller',
    });
    expect((await http.get(`/imports/${jobId}/format`)).body).toEqual(corrected.body);
    expect((await http.get(`/imports/${jobId}`)).body.status).toBe('Created');
    const { body: preview } = await http.post(`/imports/${jobId}/preview`);
    expect(preview.headers).toEqual(['code,title', 'price', 'since']);
    const targets = { 'code,title': 'code', price: 'price', since: 'since' };
    const mappings = Object.entries(targets).map(([sourceColumn, targetProperty]) => ({
      sourceColumn,
      targetProperty,
    }));
    expect((await http.put(`/imports/${jobId}/mappings`, { mappings })).status).toBe(422);
    mappings[2]!.targetProperty = 'title';
    expect((await http.put(`/imports/${jobId}/mappings`, { mappings })).status).toBe(204);
    await http.post(`/imports/${jobId}/execute`);
    const report = await reportOf(exchange, caller, jobId);
    expect(report.rowErrors).toMatchObject([
      { rowNumber: 3, details: [{ column: 'price', value: 'x', code: 'Service:Conversion:Number' }] },
    ]);
    expect(await shown(caller)).toMatchObject([{ code: 'A,1', price: '1.500', title: '01/02/2026' }]);
    const file = await http.get(`/imports/${jobId}/correction-file`);
    expect(file.text).toContain('B,2|x|02/01/2026|');
  });

  it.each([
    ['is that of its import, also where its rows do not show it', 'koi8-r'],
    ['is that of its import, in Unicode where it was saved so since', 'utf-8'],
  ])('of a correction file %s', async (_promise, encoding) => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const letters = iconv.encode(
      'code^title^price^since\nA^Приём^1,500^03/04/2026\nB^^1,500^03/04/2026\n',
      'koi8-r',
    );
    const jobId = await uploaded(caller, letters);
    const said = { encoding: 'koi8-r', delimiter: '^', decimalSeparator: ',', dateOrder: 'MonthDayYear' };
    await correct(caller, jobId, said);
    const { body: preview } = await http.post(`/imports/${jobId}/preview`);
    await http.put(`/imports/${jobId}/mappings`, { mappings: preview.suggestions });
    await http.post(`/imports/${jobId}/execute`);
    await reportOf(exchange, caller, jobId);
    const { url, headers } = http.address('GET', `/imports/${jobId}/correction-file`);
    const correction = iconv.decode(
      Buffer.from(await (await fetch(url, { headers })).arrayBuffer()),
      'koi8-r',
    );

    const repaired = correction.replace('B^^', 'B^Вход^');
    const { report } = await importFile(exchange, caller, iconv.encode(repaired, encoding));

    expect(report).toMatchObject({ finalStatus: 'Completed', insertedRows: 1 });
    expect(await shown(caller)).toMatchObject([
      { title: 'Приём', price: '1.500', since: '2026-03-04' },
      { title: 'Вход', price: '1.500', since: '2026-03-04' },
    ]);
  });

  it('keeps the mappings when a correction changes only cells', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, 'code,title,since\nA,a,03/04/2026\n');

    expect((await correct(caller, jobId, { dateOrder: 'DayMonthYear' })).status).toBe(200);
    expect((await exchange.as(caller).get(`/imports/${jobId}`)).body.status).toBe('Mapped');
    await exchange.as(caller).post(`/imports/${jobId}/execute`);
    await reportOf(exchange, caller, jobId);
    expect(await shown(caller)).toMatchObject([{ since: '2026-04-03' }]);
  });

  it('takes a lone dot for one of thousands only where its column shows it, or when told so', async () => {
    const caller = aCaller();
    const content =
      'x;code;title;price;stock\n;A;a;1.234,50;48.137\n;B;b;2.000;11.575\n;C;c;10,00;12.501\nTotal;;;3.244,50;\n';
    const jobId = await mappedImport(exchange, caller, content);
    const dryRun = async () => (await exchange.as(caller).post(`/imports/${jobId}/dry-run`)).body;

    expect(await dryRun()).toMatchObject({
      totalRows: 3,
      rowErrors: ['48.137', '11.575', '12.501'].map((value) => ({
        details: [{ column: 'stock', value, code: 'Service:Conversion:Number' }],
      })),
    });
    expect((await correct(caller, jobId, { decimalSeparator: ',' })).status).toBe(200);
    expect(await dryRun()).toMatchObject({ insertedRows: 3, rowErrors: [] });
  });

  it.each([
    ['an encoding in which some bytes are invalid', { encoding: 'utf-8' }, 'encoding', 'Format'],
    ['a delimiter that no column ends with', { delimiter: '|' }, 'delimiter', 'Format'],
    ['a delimiter that is a letter', { delimiter: 'x' }, 'delimiter', 'Format'],
    ['an order in which no date can be read', { dateOrder: 'MonthDayYear' }, 'dateOrder', 'Format'],
    ['a separator that no number has', { decimalSeparator: '.' }, 'decimalSeparator', 'Format'],
    ['a sheet', { sheet: 'First' }, 'sheet', 'Format'],
    ['an unknown encoding', { encoding: 'ebcdic' }, 'encoding', 'Enum'],
  ])('refuses a correction to %s', async (_what, correction, property, rule) => {
    const caller = aCaller();
    const content = iconv.encode('code;title;price;since\nA;é;1,5;31.12.2026\n', 'windows-1252');
    const jobId = await uploaded(caller, content);
    const before = await exchange.as(caller).get(`/imports/${jobId}/format`);
    const { status, body } = await correct(caller, jobId, correction);

    expect(status).toBe(422);
    expect(body.errors).toEqual({ [property]: [`Service:Validation:${rule}Validator`] });
    expect((await exchange.as(caller).get(`/imports/${jobId}/format`)).body).toEqual(before.body);
  });

  it('refuses a correction that contradicts a byte order mark', async () => {
    const caller = aCaller();
    const jobId = await uploaded(caller, iconv.encode('code,title\nA,a\n', 'utf-16le', { addBOM: true }));

    expect((await correct(caller, jobId, { encoding: 'utf-16be' })).status).toBe(422);
  });

  it('cannot be corrected once the job executes, and only with the permission to import', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const reader = aCaller({ tenantId: caller.tenantId, permissions: ['DataExchange.Imports.Read'] });

    expect((await correct(caller, jobId, { decimalSeparator: ',' })).status).toBe(409);
    expect((await correct(reader, jobId, { decimalSeparator: ',' })).status).toBe(403);
    expect((await exchange.as(reader).get(`/imports/${jobId}/format`)).status).toBe(403);
    expect((await correct(aCaller(), jobId, { decimalSeparator: ',' })).status).toBe(404);
  });

  /** What is stored, dates as the database writes them. */
  const shown = async (caller: Caller) =>
    (
      await exchange.shop.query(
        'SELECT code, title, price, since::text, seen_at FROM article WHERE tenant_id = $1 ORDER BY code',
        [caller.tenantId],
      )
    ).rows;

  it('shows text above the header and why it is none, and rows keep their numbers', async () => {
    const caller = aCaller();
    const file = 'Stock of March\n\ncode,title,stock\nA,One,1\nB,Two,many\nC,Three,3\n';
    const { jobId, report } = await importFile(exchange, caller, file);
    const http = exchange.as(caller);

    expect((await http.get(`/imports/${jobId}/format`)).body).toMatchObject({
      headerRow: 3,
      findings: [{ code: 'Preamble', detail: expect.stringContaining('Rows 1 to 2') }],
    });
    expect(report).toMatchObject({ insertedRows: 2, rowErrors: [{ rowNumber: 5 }] });
    const { text } = await http.get(`/imports/${jobId}/correction-file`);
    expect(text.replace('\ufeff', '').split('\r\n').slice(0, 2)).toEqual([
      'code,title,stock,_Errors',
      expect.stringMatching(/^B,Two,many,/),
    ]);
    const again = await importFile(exchange, caller, text.replace('many', '2'));
    expect(again.report).toMatchObject({ insertedRows: 1, failedRows: 0 });
  });

  it('reads the first of two tables, and the second when told so', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const first = 'code,title,stock\nA,One,1\nB,Two,many\nC,Three,3\n';
    const file = `${first}\ncode,stock,price,note\nD,4,1.5,x\nE,some,2.5,y\n`;
    const { jobId, report } = await importFile(exchange, caller, file);

    expect((await http.get(`/imports/${jobId}/format`)).body).toMatchObject({
      lastRow: 5,
      findings: [{ code: 'Tables', detail: expect.stringContaining('row 6') }],
    });
    expect(report).toMatchObject({ totalRows: 3, insertedRows: 2, rowErrors: [{ rowNumber: 3 }] });

    const { body: job } = await upload(exchange, caller, file);
    const corrected = await correct(caller, job.id, { headerRow: 6, lastRow: 0 });
    expect(corrected.body).toMatchObject({ headerRow: 6, headerRows: 1, lastRow: 0, findings: [] });
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    expect(preview).toMatchObject({ headers: ['code', 'stock', 'price', 'note'], findings: [] });
    expect(preview.previewRows).toHaveLength(2);
    expect((await correct(caller, job.id, { lastRow: 3 })).status).toBe(422);
  });

  it('joins the rows of a header, and reads them apart when told so', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const rows = Array.from({ length: 12 }, (_, row) => `A${row},Title,${row === 1 ? 'many' : row},1.5\n`);
    const file = `code,title,stock,price\n,,pieces,euro\n${rows.join('')}`;
    const { body: job } = await upload(exchange, caller, file);
    const preview = async () => (await http.post(`/imports/${job.id}/preview`)).body;

    expect(await preview()).toMatchObject({
      headers: ['code', 'title', 'stock pieces', 'price euro'],
      findings: [{ code: 'HeaderRows', detail: expect.stringContaining('2 rows') }],
    });
    expect((await correct(caller, job.id, { headerRows: 1 })).body).toMatchObject({ headerRows: 1 });
    expect((await preview()).previewRows[0]).toEqual(['', '', 'pieces', 'euro']);
    expect((await correct(caller, job.id, { headerRows: 2 })).status).toBe(200);
    const targets = { code: 'code', title: 'title', 'stock pieces': 'stock' };
    await preview();
    const mappings = Object.entries(targets).map(([sourceColumn, targetProperty]) => ({
      sourceColumn,
      targetProperty,
    }));
    expect((await http.put(`/imports/${job.id}/mappings`, { mappings })).status).toBe(204);
    await http.post(`/imports/${job.id}/execute`);
    expect(await reportOf(exchange, caller, job.id)).toMatchObject({
      insertedRows: 11,
      rowErrors: [{ rowNumber: 4 }],
    });
  });

  it('reads letters in the encoding that they are most like, until told better', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const content = iconv.encode('code,title\nA,Книга о горах\nB,Жёлтый велосипед\n', 'windows-1251');
    const { body: job } = await upload(exchange, caller, content);
    const { body: format } = await http.get(`/imports/${job.id}/format`);

    expect(format).toMatchObject({ encoding: 'windows-1251', findings: [{ code: 'Encoding' }] });
    expect((await http.post(`/imports/${job.id}/preview`)).body.previewRows).toContainEqual([
      'A',
      'Книга о горах',
    ]);
    const corrected = await correct(caller, job.id, { encoding: 'koi8-r' });
    expect(corrected.body).toMatchObject({ encoding: 'koi8-r', findings: [] });
  });

  it('imports nothing from a header without rows, and says so', async () => {
    const { report } = await importFile(exchange, aCaller(), 'code,title\n');

    expect(report).toMatchObject({ finalStatus: 'Completed', totalRows: 0, rowErrors: [] });
  });

  it('takes another row for the header, or none, when told so', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { body: job } = await upload(exchange, caller, 'x,y\ncode,title\nA,One\n');
    const preview = async () => (await http.post(`/imports/${job.id}/preview`)).body;
    const correct = (body: object) => http.put(`/imports/${job.id}/format`, body);

    expect((await correct({ headerRow: 2 })).body).toMatchObject({ headerRow: 2 });
    expect(await preview()).toMatchObject({ headers: ['code', 'title'], previewRows: [['A', 'One']] });
    expect((await correct({ headerRow: 0 })).body).toMatchObject({ headerRow: 0 });
    expect(await preview()).toMatchObject({ headers: ['Column 1', 'Column 2'], findings: [] });
    // As the preview says it.
    const { headerRow, headerRows } = await preview();
    expect((await correct({ headerRow, headerRows })).body).toMatchObject({ headerRow: 0, headerRows: 0 });
    expect((await correct({ headerRow: 2, headerRows: 0 })).body.errors).toHaveProperty('headerRows');
    const missing = await correct({ headerRow: 9 });
    expect([missing.status, missing.body.errors]).toEqual([422, { headerRow: [expect.any(String)] }]);
  });
});
