import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { articles } from './a-shop';
import { exportFile, reportOf, startDataExchange, upload, type DataExchange } from './start-data-exchange';

const names = ['Kunde Nord', 'Ärzte / Praxen', '名前', '50 % "Rabatt"?'];

describe('a definition whose name has blanks and any letters', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    const definitions = names.map((name) => ({ ...articles, name, entityType: name }));
    exchange = await startDataExchange({ definitions });
  });
  afterAll(() => exchange.close());

  it.each(names)('%s: is listed, exported, imported, reported, corrected and undone', async (name) => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const inPath = encodeURIComponent(name);
    await eventually(async () => (await http.get('/exports/definitions')).body.length > 0);

    for (const kind of ['exports', 'imports']) {
      const { body } = await http.get(`/${kind}/definitions`);
      expect(body).toContainEqual(expect.objectContaining({ name, entityType: name }));
    }
    const fields = await http.get(`/exports/definitions/${inPath}/fields`);
    expect(fields.body[0]).toMatchObject({ propertyPath: 'code' });
    const preset = {
      definitionName: name,
      presetName: name,
      selectedFields: ['code', 'title'],
      format: 'csv',
    };
    expect((await http.post('/exports/presets', { ...preset, includeIdForImport: false })).status).toBe(201);
    expect((await http.get(`/exports/presets/${inPath}`)).body).toMatchObject([preset]);
    expect((await http.delete(`/exports/presets/${inPath}/${inPath}`)).status).toBe(204);

    const headers = await exportFile(exchange, caller, {
      definitionName: name,
      selectedFields: ['code', 'title', 'stock'],
    });
    expect(headers.file.text).toBe('Code,Title,Stock\r\n');
    const file = `${headers.file.text}A,first,1\r\nB,second,none\r\n`;

    const { body: job } = await upload(exchange, caller, file, {
      definitionName: name.normalize('NFD'),
      fileName: `${name.replace('/', '-')}.csv`,
    });
    expect(job).toMatchObject({ definitionName: name, entityTypeName: name });
    const { suggestions } = (await http.post(`/imports/${job.id}/preview`)).body;
    expect((await http.put(`/imports/${job.id}/mappings`, { mappings: suggestions })).status).toBe(204);
    expect((await http.post(`/imports/${job.id}/dry-run`)).body).toMatchObject({ failedRows: 1 });
    expect((await http.post(`/imports/${job.id}/execute`)).status).toBe(202);
    expect(await reportOf(exchange, caller, job.id)).toMatchObject({
      finalStatus: 'PartiallyCompleted',
      insertedRows: 1,
      rowErrors: [{ rowNumber: 3 }],
    });
    const listed = await http.get(`/imports?filter[definitionName.eq]=${inPath}`);
    expect(listed.body.items).toMatchObject([{ id: job.id, definitionName: name }]);
    const correction = await http.get(`/imports/${job.id}/correction-file`);
    expect(correction.text).toContain('B,second,none,');

    const exported = await exportFile(exchange, caller, { definitionName: name, format: 'xlsx' });
    expect(exported.job).toMatchObject({ status: 'Completed', rowCount: 1, definitionName: name });
    expect(exported.job.fileName).toMatch(/^[^\\/:*?"<>|]+_\d{4}-\d\d-\d\d_\d{6}\.xlsx$/);
    expect(exported.file.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''${encodeURIComponent(exported.job.fileName)}`,
    );

    expect((await http.post(`/imports/${job.id}/undo`)).status).toBe(202);
    const undo = await eventually(async () => {
      const { body } = await http.get(`/imports/${job.id}/undo`);
      return body.status === 'Undoing' ? undefined : body;
    });
    expect(undo).toMatchObject({ status: 'Undone', removedRows: 1 });
    expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
  });
});
