import { aCaller } from '@plinth/testing/http';
import { startDataExchange, upload, type DataExchange } from './start-data-exchange';

type Caller = ReturnType<typeof aCaller>;
interface Mapping {
  sourceColumn: string;
  targetProperty: string | null;
  confidence: string;
}

describe('PUT /imports/{jobId}/draft-mappings', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const csv = 'code,name of it,other\nA,first,x\n';
  const previewed = async (caller: Caller): Promise<string> => {
    const jobId = (await upload(exchange, caller, csv)).body.id as string;
    await exchange.as(caller).post(`/imports/${jobId}/preview`);
    return jobId;
  };
  const draft = (caller: Caller, jobId: string, mappings: unknown) =>
    exchange.as(caller).put(`/imports/${jobId}/draft-mappings`, { mappings });
  const suggestionsFor = async (caller: Caller, jobId: string) => {
    const { body } = await exchange.as(caller).post(`/imports/${jobId}/preview`);
    return (body.suggestions as Mapping[]).map(
      ({ sourceColumn, targetProperty, confidence }) => `${sourceColumn}: ${targetProperty} ${confidence}`,
    );
  };
  const statusOf = async (caller: Caller, jobId: string) =>
    (await exchange.as(caller).get(`/imports/${jobId}`)).body.status;

  it('keeps what was chosen for whoever goes on, also while it is not complete', async () => {
    const caller = aCaller();
    const colleague = aCaller({ tenantId: caller.tenantId });
    const jobId = await previewed(caller);

    const twice = [
      { sourceColumn: 'name of it', targetProperty: 'title' },
      { sourceColumn: 'other', targetProperty: 'title', confidence: 'Manual' },
    ];
    expect((await draft(caller, jobId, twice)).status).toBe(204);

    expect(await suggestionsFor(colleague, jobId)).toEqual([
      'code: code Exact',
      'name of it: title Manual',
      'other: title Manual',
    ]);
    expect((await draft(colleague, jobId, [{ sourceColumn: 'code', targetProperty: null }])).status).toBe(
      204,
    );
    expect((await suggestionsFor(caller, jobId))[0]).toBe('code: null Manual');
    expect(await statusOf(caller, jobId)).toBe('Previewed');
    expect((await exchange.as(caller).post(`/imports/${jobId}/execute`)).status).toBe(409);
  });

  it('suggests what was confirmed, and wants it confirmed again after another choice', async () => {
    const caller = aCaller();
    const jobId = await previewed(caller);
    const confirmed = [
      { sourceColumn: 'code', targetProperty: 'code', confidence: 'Exact' },
      { sourceColumn: 'other', targetProperty: 'title' },
    ];
    await exchange.as(caller).put(`/imports/${jobId}/mappings`, { mappings: confirmed });
    expect(await suggestionsFor(caller, jobId)).toEqual([
      'code: code Exact',
      'name of it: null Manual',
      'other: title Manual',
    ]);

    await draft(caller, jobId, [{ sourceColumn: 'name of it', targetProperty: 'title' }]);
    expect(await statusOf(caller, jobId)).toBe('Previewed');
    expect((await exchange.as(caller).post(`/imports/${jobId}/dry-run`)).status).toBe(409);
  });

  it('keeps how to import, apart from the columns, and executes by it only where it is sent again', async () => {
    const caller = aCaller();
    const colleague = aCaller({ tenantId: caller.tenantId });
    const jobId = await previewed(caller);
    const draftOf = async (reader: Caller) =>
      (await exchange.as(reader).get(`/imports/${jobId}/draft-mappings`)).body;
    const keep = async (body: object) =>
      (await exchange.as(caller).put(`/imports/${jobId}/draft-mappings`, body)).status;
    const usual = { mode: 'upsert', onError: 'continue' };
    expect(await draftOf(colleague)).toMatchObject({ mappings: [], options: usual });

    const code = { sourceColumn: 'code', targetProperty: 'code', confidence: 'Exact' };
    const title = { sourceColumn: 'other', targetProperty: 'title', confidence: 'Manual' };
    const mappings = [code, title];
    await exchange.as(caller).put(`/imports/${jobId}/mappings`, { mappings });
    const chosen = { mode: 'insert', onError: 'abort' };
    expect(await keep({ options: chosen })).toBe(204);
    expect(await draftOf(colleague)).toMatchObject({ mappings, options: chosen });
    expect(await statusOf(caller, jobId)).toBe('Mapped');

    expect(await keep({ mappings: [code] })).toBe(204);
    expect(await draftOf(colleague)).toMatchObject({ mappings: [code], options: chosen });
    expect(await statusOf(caller, jobId)).toBe('Previewed');

    expect(await keep({ options: { mode: 'never' } })).toBe(422);
    expect(await keep({})).toBe(422);
    expect(await draftOf(colleague)).toMatchObject({ mappings: [code], options: chosen });

    await exchange.as(caller).put(`/imports/${jobId}/mappings`, { mappings });
    await exchange.as(caller).post(`/imports/${jobId}/execute`);
    expect((await draftOf(colleague)).options).toEqual(usual);
  });

  it('forgets it where the file is read with other columns', async () => {
    const caller = aCaller();
    const jobId = await previewed(caller);
    await draft(caller, jobId, [{ sourceColumn: 'other', targetProperty: 'title' }]);
    for (const headerRow of [2, 1]) {
      const corrected = await exchange.as(caller).put(`/imports/${jobId}/format`, { headerRow });
      expect(corrected.status).toBe(200);
    }
    expect((await suggestionsFor(caller, jobId))[2]).toBe('other: null Manual');
  });

  it.each<[string, unknown]>([
    ['a column that the file has not', [{ sourceColumn: 'nowhere', targetProperty: 'title' }]],
    ['a property that does not exist', [{ sourceColumn: 'code', targetProperty: 'nothing' }]],
    ['a column twice', Array(2).fill({ sourceColumn: 'code', targetProperty: 'code' })],
    ['more mappings than a file has columns', Array(2_000).fill({ sourceColumn: 'code' })],
  ])('refuses %s', async (_description, mappings) => {
    const caller = aCaller();
    expect((await draft(caller, await previewed(caller), mappings)).status).toBe(422);
  });

  it('is for those who may import what the file holds, in their own tenant', async () => {
    const caller = aCaller();
    const jobId = await previewed(caller);
    const mappings = [{ sourceColumn: 'other', targetProperty: 'title' }];
    const reader = aCaller({ tenantId: caller.tenantId, permissions: ['DataExchange.Imports.Read'] });
    expect((await draft(reader, jobId, mappings)).status).toBe(403);
    expect((await exchange.as(reader).get(`/imports/${jobId}/draft-mappings`)).status).toBe(403);
    expect((await draft(aCaller(), jobId, mappings)).status).toBe(404);
    expect((await exchange.as(aCaller()).get(`/imports/${jobId}/draft-mappings`)).status).toBe(404);
    expect((await suggestionsFor(caller, jobId))[2]).toBe('other: null Manual');
  });
});
