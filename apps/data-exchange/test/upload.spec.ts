import { readdirSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import iconv from 'iconv-lite';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { sendForm, startDataExchange, upload, type DataExchange } from './start-data-exchange';

const csv = 'code,title\nA,a\n';

describe('POST /imports', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({
      worker: false,
      environment: { EXCHANGE_UPLOAD_BYTES_MAX: '100000' },
    });
  });
  afterAll(() => exchange.close());

  const storedFiles = () =>
    readdirSync(exchange.folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());

  it('accepts the parts in either order, with and without a trailing slash', async () => {
    const caller = aCaller();

    expect((await upload(exchange, caller, csv)).status).toBe(201);
    expect((await upload(exchange, caller, csv, { definitionFirst: true })).status).toBe(201);
    const form = new Response(new FormData());
    const { status } = await exchange.as(caller).post('/imports/', new Uint8Array(await form.arrayBuffer()), {
      headers: { 'content-type': form.headers.get('content-type')! },
    });
    expect(status).toBe(422);
  });

  it.each([
    ['utf-8', false, 'utf-8', ','],
    ['utf-8', true, 'utf-8', ','],
    ['utf-16le', true, 'utf-16le', ';'],
    ['utf-16be', true, 'utf-16be', '\t'],
    ['windows-1252', false, 'windows-1252', ';'],
  ])('detects %s (byte order mark: %s)', async (encoding, addBOM, seen, delimiter) => {
    const caller = aCaller();
    const text = 'code,title\nA,Äpfel – grün\n'.replaceAll(',', delimiter);
    const { body: job } = await upload(exchange, caller, iconv.encode(text, encoding, { addBOM }));
    const http = exchange.as(caller);

    expect(job.mimeType).toBe(delimiter === '\t' ? 'text/tab-separated-values' : 'text/csv');
    expect((await http.get(`/imports/${job.id}/format`)).body).toMatchObject({
      kind: 'csv',
      encoding: seen,
      delimiter,
    });
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    expect(preview).toMatchObject({ headers: ['code', 'title'], previewRows: [['A', 'Äpfel – grün']] });
  });

  it.each([
    ['an unknown definition', csv, { definitionName: 'No.Such' }, 422, 'definitionName'],
    [
      'a definition that can only be exported',
      csv,
      { definitionName: 'Shop.Journal' },
      422,
      'definitionName',
    ],
    ['an empty definition', csv, { definitionName: '' }, 422, 'definitionName'],
    ['an empty file', '', {}, 422, 'file'],
    ['a file of nothing but blanks', ' \n\n', {}, 422, 'file'],
    ['a PDF', '%PDF-1.7 …', { fileName: 'a.csv' }, 415, undefined],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), { fileName: 'a.xls' }, 415, undefined],
    ['a file beyond the limit', `code,title\n${'A,a\n'.repeat(30_000)}`, {}, 413, undefined],
  ])('refuses %s and stores nothing of it', async (_what, content, options, status, property) => {
    const before = storedFiles().length;
    const response = await upload(exchange, aCaller(), content, options);

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    if (property) expect(Object.keys(response.body.errors)).toEqual([property]);
    expect(storedFiles()).toHaveLength(before);
  });

  it('refuses a form without a file, with two files, or that is interrupted', async () => {
    const caller = aCaller();
    const file = { name: 'file', content: csv, fileName: 'a.csv' };
    const definition = { name: 'definitionName', content: 'Shop.Articles' };
    const before = storedFiles().length;

    expect((await sendForm(exchange, caller, [definition])).status).toBe(422);
    expect((await sendForm(exchange, caller, [file, file, definition])).status).toBe(422);
    const cut = await exchange
      .as(caller)
      .post('/imports', '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncode', {
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      });
    expect(cut.status).toBe(400);
    const unbounded = await exchange
      .as(caller)
      .post('/imports', 'x', { headers: { 'content-type': 'multipart/form-data' } });
    expect(unbounded.status).toBe(400);
    expect((await exchange.as(caller).post('/imports', {})).status).toBe(415);
    expect(storedFiles()).toHaveLength(before);
  });

  it('stores nothing of a file whose connection ends, as that of one that comes too slowly does', async () => {
    const before = storedFiles().length;
    const { url, headers } = exchange.as(aCaller()).address('POST', '/imports');
    const request = sendRequest(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'content-length': 50_000 },
    }).on('error', () => undefined);
    request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    request.write(csv.repeat(1_000));
    await eventually(() => storedFiles().length === before + 1);
    request.destroy();
    await eventually(() => storedFiles().length === before);
  });

  it('refuses more parts and longer texts than it reads, instead of ignoring the rest', async () => {
    const caller = aCaller();
    const file = { name: 'file', content: csv, fileName: 'a.csv' };
    const definition = { name: 'definitionName', content: 'Shop.Articles' };
    const others = Array.from({ length: 19 }, (_, index) => ({ name: `other${index}`, content: 'x' }));
    const before = storedFiles().length;

    for (const form of [
      [definition, ...others, file],
      [file, definition, { name: 'comment', content: 'x'.repeat(10_001) }],
    ]) {
      const { status, body } = await sendForm(exchange, caller, form);
      expect({ status, errors: Object.keys(body.errors) }).toEqual({ status: 422, errors: ['body'] });
    }
    expect((await sendForm(exchange, caller, [definition, ...others.slice(1), file])).status).toBe(201);
    expect(storedFiles()).toHaveLength(before + 1);
  });

  it('refuses text whose quotes are never closed, and stores nothing of it', async () => {
    const before = storedFiles().length;
    const { status, body } = await upload(exchange, aCaller(), '\n"x '.repeat(16_000));
    expect([status, body.detail]).toEqual([422, expect.stringContaining('never closed')]);
    expect(storedFiles()).toHaveLength(before);
  });

  it('waits for its format to be found while that of four others is', async () => {
    const others = [aCaller(), aCaller(), aCaller(), aCaller()];
    for (const other of others) expect(exchange.detectionPlaces.tryEnter(other)).toBe(true);
    const before = storedFiles().length;

    const uploaded = upload(exchange, aCaller(), csv);
    await eventually(() => exchange.detectionPlaces.waitingCount === 1);

    for (const other of others) exchange.detectionPlaces.leave(other);
    expect((await uploaded).status).toBe(201);
    expect(storedFiles()).toHaveLength(before + 1);
  });

  it('stores the name of the file as data, never as a path', async () => {
    const { body } = await upload(exchange, aCaller(), csv, { fileName: '../../etc/pass\u202ewd\u0007.csv' });

    expect(body.originalFileName).toBe('passwd.csv');
  });

  it('needs the permission to import', async () => {
    const reader = aCaller({ permissions: ['DataExchange.Imports.Read', 'Settings.Tenant.Manage'] });

    expect((await upload(exchange, reader, csv)).status).toBe(403);
  });
});
