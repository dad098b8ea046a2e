import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { startDataExchange, type DataExchange } from './start-data-exchange';

const preset = {
  definitionName: 'Shop.Articles',
  presetName: 'My list / all',
  selectedFields: ['code', 'title'],
  format: 'csv',
  includeIdForImport: true,
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

    expect(await listed()).toEqual([
      { name: 'Shop.Articles', entityType: 'Article', supportedFormats: ['csv', 'xlsx', 'json'] },
      { name: 'Shop.Journal', entityType: 'Article', supportedFormats: ['csv', 'xlsx', 'json'] },
    ]);
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
