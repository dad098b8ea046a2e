import fc from 'fast-check';
import Papa from 'papaparse';
import { guard } from '@plinth/kernel/formula-guard';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { exportFile, importFile, startDataExchange, type DataExchange } from './start-data-exchange';

/** One filter in so many spellings, each with another value. */
function variantsOf(key: string, count: number): Record<string, string> {
  const spelled = (spelling: number) =>
    [...key].map((letter, at) => ((spelling >> at) & 1 ? letter.toUpperCase() : letter)).join('');
  const spellings = [...new Set(Array.from({ length: 4_096 }, (_, spelling) => spelled(spelling)))];
  return Object.fromEntries(spellings.slice(0, count).map((spelling, index) => [spelling, `x${index}`]));
}

describe('an export', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const rowsOf = (text: string): string[][] =>
    Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: true }).data;

  it('is accepted, run and downloaded under the name of its definition and time', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title,stock,since\nB,Bread,2,2026-11-21\nA,"Apple, red",1,\n');
    const http = exchange.as(caller);
    const created = await http.post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv' });

    expect(created.status).toBe(202);
    expect(created.headers.get('location')).toBe(`/api/v1/exports/jobs/${created.body.id}`);
    expect(created.body).toMatchObject({
      definitionName: 'Shop.Articles',
      format: 'csv',
      rowCount: null,
      fileName: null,
      completedAt: null,
    });
    const { job, file } = await exportFile(exchange, caller);
    expect(job).toMatchObject({ status: 'Completed', rowCount: 2, errorMessage: null });
    expect(job.fileName).toMatch(/^Shop\.Articles_\d{4}-\d\d-\d\d_\d{6}\.csv$/);
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''${job.fileName}; filename="${job.fileName}"`,
    );
    expect(file.headers.get('content-type')).toBe('application/octet-stream');
    expect(Number(file.headers.get('content-length'))).toBeGreaterThan(0);
    expect(file.text.split('\r\n').slice(0, 3)).toEqual([
      'Code,Title,Stock,Price,New,Since,Seen at,Kind',
      'A,"Apple, red",1,,,,,',
      'B,Bread,2,,,2026-11-21,,',
    ]);
  });

  it('begins with a byte order mark, so that spreadsheets read UTF-8', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const { url, headers } = exchange.as(caller).address('GET', `/exports/jobs/${job.id}/download`);
    const bytes = Buffer.from(
      await (await fetch(url, { headers: { ...headers, accept: 'text/csv' } })).arrayBuffer(),
    );

    expect(bytes.toString('hex', 0, 3)).toBe('efbbbf');
  });

  it('contains the requested fields and rows in the requested order', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title,stock\nA,one,1\nB,two,2\nC,three,3\n');
    const { file } = await exportFile(exchange, caller, {
      selectedFields: ['stock', 'code'],
      sort: '-stock',
      filter: { 'filter[stock.gte]': '2', 'title.contains': 'T' },
      search: 'o',
    });

    expect(rowsOf(file.text)).toEqual([
      ['Stock', 'Code'],
      ['2', 'B'],
    ]);
  });

  it.each(["'; DROP TABLE article; --", "\\' OR true --", 'E\\x27', '$1', '100%_', "'", '{"a",b}', 'a, b'])(
    'finds the row that a filter names as %j, and no other',
    async (title) => {
      const caller = aCaller();
      const content = Papa.unparse([
        ['code', 'title'],
        ['A', guard(title)],
        ['B', 'other'],
      ]);
      await importFile(exchange, caller, content);
      const found = async (selection: object) =>
        rowsOf((await exportFile(exchange, caller, { selectedFields: ['code'], ...selection })).file.text);
      const quoted = title.replace(/[\\,]/g, '\\$&');

      expect(await found({ filter: { 'title.eq': title } })).toEqual([['Code'], ['A']]);
      expect(await found({ filter: { 'title.contains': title } })).toEqual([['Code'], ['A']]);
      expect(await found({ filter: { 'title.in': `${quoted},nothing` } })).toEqual([['Code'], ['A']]);
      expect(await found({ search: title })).toEqual([['Code'], ['A']]);
    },
  );

  it('adds the id by which an import finds the rows again, also under another key', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title\nA,one\n');
    const { file } = await exportFile(exchange, caller, {
      includeIdForImport: true,
      selectedFields: ['code', 'title'],
    });
    const [header, row] = rowsOf(file.text);
    expect(header).toEqual(['Id', 'Code', 'Title']);

    const { report } = await importFile(exchange, caller, `${header!.join(',')}\n${row![0]},Z,changed\n`);
    expect(report).toMatchObject({ updatedRows: 1, insertedRows: 0 });
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([{ code: 'Z', title: 'changed' }]);
  });

  it('as JSON has one line for each row', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title,stock,new\nA,"=1+1",7,yes\n');
    const { job, file } = await exportFile(exchange, caller, {
      format: 'json',
      selectedFields: ['code', 'title', 'stock', 'isNew'],
    });

    expect(job.fileName).toMatch(/\.json$/);
    expect(JSON.parse(file.text.trimEnd())).toEqual({ code: 'A', title: '=1+1', stock: 7, isNew: true });
  });

  it.each(['csv', 'json'])('contains every digit of numbers as %s', async (format) => {
    const caller = aCaller();
    const price = '12345678901234567890.12345678901234567891';
    await importFile(exchange, caller, `code,title,price\nA,Apple,${price}\n`);
    const { file } = await exportFile(exchange, caller, { format, selectedFields: ['price'] });

    expect(file.text).toMatch(format === 'csv' ? `\n${price}\r` : `:${price}}`);
  });

  it('can be imported again without a change, and has no cell that a spreadsheet would run', async () => {
    const caller = aCaller();
    const awkward = fc.stringMatching(/^['=+\-@\t\r\n",; 0-9a]{0,8}$/);
    const titles = fc
      .sample(fc.oneof(awkward, fc.string({ unit: 'grapheme', maxLength: 40 })), { numRuns: 300, seed: 7 })
      .filter((title) => title.trim() !== '' && !title.includes('\0'));
    const content = Papa.unparse([
      ['code', 'title'],
      ...titles.map((title, row) => [`K${row}`, guard(title)]),
    ]);
    const first = await importFile(exchange, caller, content);
    expect(first.report).toMatchObject({ failedRows: 0, insertedRows: titles.length });
    const stored = new Map(
      (await exchange.shop.rows(caller.tenantId)).map(({ code, title }) => [code, title]),
    );
    expect(titles.map((_, row) => stored.get(`K${row}`))).toEqual(titles);

    const { file } = await exportFile(exchange, caller, { selectedFields: ['code', 'title'] });
    for (const [, title] of rowsOf(file.text).slice(1)) {
      expect(/^[=+\-@\t\r]/.test(title!) && Number.isNaN(Number(title))).toBe(false);
    }
    const other = aCaller();
    const { report } = await importFile(exchange, other, file.text);
    expect(report).toMatchObject({ failedRows: 0, insertedRows: titles.length });
    expect((await exchange.shop.rows(other.tenantId)).map(({ title }) => title)).toEqual(
      [...stored.keys()].sort().map((code) => stored.get(code)),
    );
  });

  it('as a workbook has typed cells', async () => {
    const caller = aCaller();
    await importFile(exchange, caller, 'code,title,stock,new\nA,"=1+1",7,yes\n');
    const { job, file } = await exportFile(exchange, caller, { format: 'xlsx' });

    expect(job).toMatchObject({ status: 'Completed', rowCount: 1 });
    expect(file.text.startsWith('PK')).toBe(true);
  });

  it.each([
    [{ definitionName: 'No.Such' }, 422, 'definitionName'],
    [{ format: 'pdf' }, 422, 'format'],
    [{ selectedFields: ['nothing'] }, 422, 'selectedFields[0]'],
    [{ sort: 'nothing' }, 400, undefined],
    [{ filter: { 'nothing.eq': 'x' } }, 400, undefined],
    [{ filter: { 'stock.contains': 'x' } }, 400, undefined],
    [{ filter: { 'stock.eq': 'many' } }, 400, undefined],
    [{ presets: { any: 'x' } }, 400, undefined],
    [{ filter: { 'stock.eq': '1', 'filter[stock.eq]': '2' } }, 400, undefined],
    [{ selectedFields: ['code', 'code'] }, 422, 'selectedFields[1]'],
    [{ format: null }, 422, 'format'],
    [{ format: 7 }, 400, undefined],
  ])('requested with %j is refused with %i', async (change, status, property) => {
    const response = await exchange
      .as(aCaller())
      .post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv', ...change });

    expect(response.status).toBe(status);
    if (property) expect(Object.keys(response.body.errors)).toEqual([property]);
  });

  it.each([
    ['51 filters', { filter: variantsOf('title.contains', 51) }, 400],
    ['21 sort fields', { sort: Array(21).fill('code').join(',') }, 400],
    ['501 selected fields', { selectedFields: Array(501).fill('code') }, 422],
  ])('that asks for %s is refused, and the problem names the limit', async (_, change, status) => {
    const { body, status: given } = await exchange
      .as(aCaller())
      .post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv', ...change });

    expect(given).toBe(status);
    expect(body.detail).toMatch(/at most (50|20|500)/i);
    if (status === 422)
      expect(body.errors).toEqual({ selectedFields: ['Service:Validation:MaximumLengthValidator'] });
  });

  it('ends its statement at the owner when it is cancelled, also before the first row', async () => {
    const http = exchange.as(aCaller());
    const statements = async () => {
      await exchange.shop.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await exchange.shop.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY %' AND state = 'active'`,
      );
      return rows.length;
    };
    await exchange.shop.query('BEGIN');
    await exchange.shop.query('LOCK TABLE article IN ACCESS EXCLUSIVE MODE');
    try {
      const { body: job } = await http.post('/exports/jobs', {
        definitionName: 'Shop.Articles',
        format: 'csv',
      });
      await eventually(async () => (await statements()) === 1);
      expect((await http.delete(`/exports/jobs/${job.id}`)).status).toBe(204);

      await eventually(async () => (await statements()) === 0);
      expect((await http.get(`/exports/jobs/${job.id}`)).body).toMatchObject({
        status: 'Failed',
        errorMessage: 'The export was cancelled.',
      });
    } finally {
      await exchange.shop.query('ROLLBACK');
    }
  });

  it('is created once for one operation id', async () => {
    const caller = aCaller({ operationId: 'one-operation' });
    const http = exchange.as(caller);
    const request = { definitionName: 'Shop.Articles', format: 'csv' };
    const [first, second] = await Promise.all([
      http.post('/exports/jobs', request),
      http.post('/exports/jobs', request),
    ]);

    expect(first.status).toBe(202);
    expect(second.body.id).toBe(first.body.id);
  });

  it('cannot be seen by another tenant', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const stranger = exchange.as(aCaller());
    const colleague = exchange.as(
      aCaller({ tenantId: caller.tenantId, permissions: ['DataExchange.Exports.Read'] }),
    );

    expect((await stranger.get(`/exports/jobs/${job.id}`)).status).toBe(404);
    expect((await stranger.get(`/exports/jobs/${job.id}/download`)).status).toBe(404);
    const withoutRows = { ...job, rowCount: null };
    expect((await colleague.get(`/exports/jobs/${job.id}`)).body).toEqual(withoutRows);
    expect((await colleague.get('/exports/jobs')).body.items).toEqual([withoutRows]);
    for (const path of ['download', 'events'])
      expect((await colleague.get(`/exports/jobs/${job.id}/${path}`)).status).toBe(403);
    expect((await colleague.get('/exports/jobs/no-uuid')).status).toBe(400);
  });

  it('can be read only by callers who may see all of its rows, their number included', async () => {
    const permissions = [
      'DataExchange.Exports.Read',
      'DataExchange.Exports.Execute',
      'Settings.Tenant.Manage',
    ];
    const admin = aCaller();
    const staff = { ...admin, permissions: [...permissions, 'Timeline.InternalNotes.Read'] };
    const guest = { ...admin, permissions };
    await importFile(exchange, admin, 'code,title,kind\nA,Apple,Food\nB,Poems,Book\n');
    const journal = { definitionName: 'Shop.Journal', selectedFields: ['title'] };
    const whole = await exportFile(exchange, staff, journal);
    const part = await exportFile(exchange, guest, journal);
    const asGuest = (path: string) => exchange.as(guest).get(`/exports/jobs/${whole.job.id}${path}`);

    expect(rowsOf(whole.file.text)).toEqual([['Title'], ['Apple'], ['Poems']]);
    expect(rowsOf(part.file.text)).toEqual([['Title'], ['Apple']]);
    expect((await asGuest('/download')).status).toBe(403);
    expect((await asGuest('/events')).status).toBe(403);
    expect((await asGuest('')).body).toEqual({ ...whole.job, rowCount: null });
    expect((await exchange.as(guest).get('/exports/jobs')).body.items).toEqual([
      part.job,
      { ...whole.job, rowCount: null },
    ]);
    expect((await exchange.as(staff).get(`/exports/jobs/${part.job.id}/download`)).status).toBe(200);
  });

  it('gets the response 304 when its entity tag matches', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const { headers } = await exchange.as(caller).get(`/exports/jobs/${job.id}`);
    const again = await exchange
      .as(caller)
      .get(`/exports/jobs/${job.id}`, { headers: { 'if-none-match': headers.get('etag')! } });

    expect(again.status).toBe(304);
  });

  it('sends its progress as events until it ends', async () => {
    const caller = aCaller();
    const { job } = await exportFile(exchange, caller);
    const { text, headers } = await exchange.as(caller).get(`/exports/jobs/${job.id}/events`);

    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(text).toContain('event: end');
    expect(text).toContain('"status":"Completed"');
  });
});

describe('an export without a worker', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it('can be cancelled and ends Failed with that reason; it cannot be cancelled again or downloaded', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const retried = exchange.as({ ...caller, operationId: 'cancel' });
    const { body: job } = await http.post('/exports/jobs', {
      definitionName: 'Shop.Articles',
      format: 'csv',
    });
    expect(job.status).toBe('Queued');
    expect((await http.get(`/exports/jobs/${job.id}/download`)).status).toBe(409);

    expect((await retried.delete(`/exports/jobs/${job.id}`)).status).toBe(204);
    expect((await retried.delete(`/exports/jobs/${job.id}`)).status).toBe(204);
    const { body: ended } = await http.get(`/exports/jobs/${job.id}`);
    expect(ended).toMatchObject({ status: 'Failed', errorMessage: 'The export was cancelled.' });
    expect((await http.delete(`/exports/jobs/${job.id}`)).status).toBe(409);
    expect((await http.get(`/exports/jobs/${job.id}/download`)).status).toBe(409);
  });

  it('can only be cancelled by a caller whom the definition admits', async () => {
    const caller = aCaller();
    const clerk = aCaller({
      tenantId: caller.tenantId,
      permissions: ['DataExchange.Exports.Read', 'DataExchange.Exports.Execute'],
    });
    const { body: job } = await exchange
      .as(caller)
      .post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv' });

    expect((await exchange.as(clerk).delete(`/exports/jobs/${job.id}`)).status).toBe(403);
    expect((await exchange.as(caller).get(`/exports/jobs/${job.id}`)).body).toEqual(job);
    expect((await exchange.as(aCaller()).delete(`/exports/jobs/${job.id}`)).status).toBe(404);
  });

  it.each([
    ['CSV', 'csv'],
    ['Xlsx', 'xlsx'],
    ['jSON', 'json'],
  ])('takes the format %s, and is listed with the format %s', async (format, canonical) => {
    const http = exchange.as(aCaller());
    const { status, body } = await http.post('/exports/jobs', { definitionName: 'Shop.Articles', format });

    expect(status).toBe(202);
    expect(body.format).toBe(canonical);
    expect((await http.get('/exports/jobs')).body.items).toMatchObject([{ format: canonical }]);
  });

  it('is listed, newest first, page by page and by cursor', async () => {
    const http = exchange.as(aCaller());
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      ids.unshift(
        (await http.post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv' })).body.id,
      );
    }
    const { body: page } = await http.get('/exports/jobs?pageSize=2');
    const { body: first } = await http.get('/exports/jobs?pageSize=2&cursor=');
    const { body: second } = await http.get(
      `/exports/jobs?pageSize=2&cursor=${encodeURIComponent(first.nextCursor)}`,
    );

    expect(page).toMatchObject({ totalCount: 3, hasMore: true });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect((await http.get('/exports/jobs?filter[status.eq]=Completed')).body.items).toEqual([]);
  });
});
