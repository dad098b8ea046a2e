import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { startDataExchange, type DataExchange } from './start-data-exchange';

const preset = {
  definitionName: 'Shop.Articles',
  presetName: 'My list / all',
  selectedFields: ['code', 'title'],
  format: 'csv',
  includeIdForImport: true,
  filter: { 'code.startsWith': 'A' },
};

describe('export definitions and presets', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
  });
  afterAll(() => exchange.close());

  it('list what can be exported', async () => {
    const listed = async () => (await exchange.as(aCaller()).get('/exports/definitions')).body;
    // An owner that is slow to say what it has is not waited for.
    await eventually(async () => (await listed()).length > 0);

    const definition = {
      entityType: 'Article',
      supportedFormats: ['csv', 'xlsx', 'json'],
      filters: expect.any(Array),
    };
    expect(await listed()).toEqual([
      { name: 'Shop.Articles', ...definition },
      { name: 'Shop.Journal', ...definition },
    ]);
    expect((await listed())[0].filters).toContainEqual({
      field: 'code',
      type: 'string',
      operators: ['eq', 'contains', 'startsWith', 'endsWith', 'in'],
      values: null,
    });
  });

  it('list the fields in the order of their columns', async () => {
    const { body } = await exchange.as(aCaller()).get('/exports/definitions/Shop.Articles/fields');

    expect(body[0]).toEqual({
      propertyPath: 'code',
      clrTypeName: 'String',
      header: 'Code',
      format: null,
      order: 0,
      isNavigation: false,
    });
    expect(body.find(({ propertyPath }: { propertyPath: string }) => propertyPath === 'since')).toMatchObject(
      {
        clrTypeName: 'DateOnly',
        format: 'yyyy-MM-dd',
        order: 5,
      },
    );
  });

  it('list what the caller may import, with the fields of a file', async () => {
    const caller = aCaller();
    const listed = async (permissions: string[]) =>
      (await exchange.as({ ...caller, permissions }).get('/imports/definitions')).body;
    await eventually(async () => (await listed(['*'])).length > 0);

    const [articles] = await listed(['*']);
    expect(articles).toMatchObject({ name: 'Shop.Articles', entityType: 'Article', isUndoable: true });
    expect(articles.fields[0]).toMatchObject({ propertyPath: 'code', isRequired: true });
    expect(articles.fields.map(({ propertyPath }: { propertyPath: string }) => propertyPath)).toContain('id');
    expect(await listed(['DataExchange.Imports.Read'])).toEqual([]);
  });

  it('are 404 for a definition that no service has', async () => {
    const http = exchange.as(aCaller());

    expect((await http.get('/exports/definitions/No.Such/fields')).status).toBe(404);
    expect((await http.get('/exports/presets/No.Such')).status).toBe(404);
  });

  it('are visible only to the user who saved the preset', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const saved = await http.post('/exports/presets', preset);

    expect(saved.status).toBe(201);
    expect(saved.headers.get('location')).toBe('/api/v1/exports/presets/Shop.Articles');
    expect((await http.post('/exports/presets', { ...preset, format: 'xlsx' })).status).toBe(204);
    expect((await http.get('/exports/presets/Shop.Articles')).body).toEqual([{ ...preset, format: 'xlsx' }]);
    expect((await http.post('/exports/presets', { ...preset, filter: undefined })).status).toBe(204);
    expect((await http.get('/exports/presets/Shop.Articles')).body).toEqual([{ ...preset, filter: null }]);
    const refused = await http.post('/exports/presets', { ...preset, filter: { 'nothing.eq': 'x' } });
    expect(refused.status).toBe(400);
    const colleague = exchange.as(aCaller({ tenantId: caller.tenantId }));
    expect((await colleague.get('/exports/presets/Shop.Articles')).body).toEqual([]);
  });

  it('refuse a preset with more than 500 fields', async () => {
    const response = await exchange
      .as(aCaller())
      .post('/exports/presets', { ...preset, selectedFields: Array(501).fill('code') });

    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors)).toEqual(['selectedFields']);
  });

  it('are two hundred presets of one user and definition at most, however many are saved at once', async () => {
    const caller = aCaller();
    const http = exchange.as(caller);
    const { tenantId } = caller;
    await http.post('/exports/presets', preset);
    await exchange.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO export_preset (tenant_id, user_id, definition_name, preset_name, selected_fields, format, include_id_for_import)
      SELECT tenant_id, user_id, definition_name, 'Preset ' || number, selected_fields, format, include_id_for_import
      FROM export_preset, generate_series(1, 197) AS number WHERE tenant_id = ${tenantId}::uuid`,
    );
    const save = (presetName: string) => http.post('/exports/presets', { ...preset, presetName });

    const racing = await Promise.all(Array.from({ length: 6 }, (_, index) => save(`Last ${index}`)));

    expect(racing.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429, 429, 429]);
    expect(racing.find(({ status }) => status === 429)?.body).toMatchObject({
      quota: { name: 'export-presets', scope: 'user', limit: 200, used: 200 },
    });
    expect((await http.post('/exports/presets', preset)).status).toBe(204);
    expect((await http.get('/exports/presets/Shop.Articles')).body).toHaveLength(200);
  });

  it('save the format of a preset in lower case, however it is spelled', async () => {
    const http = exchange.as(aCaller());

    expect((await http.post('/exports/presets', { ...preset, format: 'Xlsx' })).body.format).toBe('xlsx');
    expect((await http.get('/exports/presets/Shop.Articles')).body).toMatchObject([{ format: 'xlsx' }]);
  });

  it('allow to delete a preset once', async () => {
    const http = exchange.as(aCaller());
    await http.post('/exports/presets', preset);
    const path = `/exports/presets/Shop.Articles/${encodeURIComponent(preset.presetName)}`;

    expect((await http.delete(path)).status).toBe(204);
    expect((await http.delete(path)).status).toBe(404);
  });

  it.each([
    [{ definitionName: 'No.Such' }, 'definitionName'],
    [{ selectedFields: ['code', 'nothing'] }, 'selectedFields[1]'],
    [{ format: 'pdf' }, 'format'],
    [{ presetName: '' }, 'presetName'],
  ])('refuse a preset with %j', async (change, property) => {
    const response = await exchange.as(aCaller()).post('/exports/presets', { ...preset, ...change });

    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors)).toEqual([property]);
  });

  it('list the last known definitions of a service while it is unavailable', async () => {
    const http = exchange.as(aCaller());
    await http.get('/exports/definitions');
    await exchange.shop.restart(async () => {
      expect((await http.get('/exports/definitions')).body).toHaveLength(2);
    });
  });
});
