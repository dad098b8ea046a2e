import type { ListRequest } from '@plinth/http/paging';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { mappedImport, startDataExchange, upload, type DataExchange } from './start-data-exchange';

describe('the lists of import and export jobs', () => {
  let exchange: DataExchange;
  const caller = aCaller();
  const imports: Record<string, string> = {};
  const exports: Record<string, string> = {};

  const statusesOf = async (path: string) => {
    const { body } = await exchange.as(caller).get(path);
    return body.items.map(({ status }: { status: string }) => status);
  };
  const startExport = async () =>
    (await exchange.as(caller).post('/exports/jobs', { definitionName: 'Shop.Articles', format: 'csv' })).body
      .id;

  beforeAll(async () => {
    exchange = await startDataExchange({ worker: false });
    for (const state of ['Created', 'Previewed', 'Cancelled'])
      imports[state] = (await upload(exchange, caller, 'code,title\nA,a\n')).body.id;
    await exchange.as(caller).post(`/imports/${imports['Previewed']}/preview`);
    await exchange.as(caller).delete(`/imports/${imports['Cancelled']}`);
    for (const state of ['Queued', 'Failed']) exports[state] = await startExport();
    await exchange.as(caller).delete(`/exports/jobs/${exports['Failed']}`);
  });
  afterAll(() => exchange.close());

  it.each([
    ['/imports', 'Created'],
    ['/imports', 'Previewed'],
    ['/imports', 'Cancelled'],
    ['/exports/jobs', 'Queued'],
    ['/exports/jobs', 'Failed'],
  ])('%s has only the jobs of the state that `status` names, here %s, in any case', async (path, state) => {
    for (const spelled of [state, state.toUpperCase(), state.toLowerCase()])
      expect(await statusesOf(`${path}?status=${spelled}`)).toEqual([state]);
  });

  it('are read without what a job may have much of', async () => {
    const sort = [{ field: 'createdAt', descending: true }];
    const all = {
      sort,
      filters: [],
      limit: 100,
      offset: 0,
      wantsTotalCount: false,
    } as unknown as ListRequest;

    const [listedImport] = (await exchange.imports.list(caller.tenantId, all)).rows;
    const [listedExport] = (await exchange.exports.list(caller.tenantId, all)).rows;

    const large = ['format', 'headers', 'mappings', 'options', 'caller'];
    expect(large.filter((property) => property in listedImport!)).toEqual([]);
    expect(['request', 'caller'].filter((property) => property in listedExport!)).toEqual([]);
  });

  it('combine `status` with filters by and', async () => {
    expect(await statusesOf('/imports?status=Created&filter[status.eq]=created')).toEqual(['Created']);
    expect(await statusesOf('/imports?status=Created&filter[status.eq]=Cancelled')).toEqual([]);
    expect(await statusesOf('/exports/jobs?status=Queued&filter[format.eq]=csv')).toEqual(['Queued']);
    expect(await statusesOf('/exports/jobs?status=Queued&filter[format.eq]=xlsx')).toEqual([]);
  });

  it.each([
    '/imports?status=Queued',
    '/imports?status=',
    '/imports?status=Created,Mapped',
    '/imports?status=Created&status=Mapped',
    '/exports/jobs?status=Mapped',
    '/exports/jobs?status=0',
  ])('refuse an unknown or repeated state: %s', async (path) => {
    expect((await exchange.as(caller).get(path)).status).toBe(400);
  });

  it.each(['/imports?groupBy=status', '/exports/jobs?groupby=definitionName', '/imports?groupBy='])(
    'refuse to group: %s',
    async (path) => {
      const { status, body } = await exchange.as(caller).get(path);

      expect(status).toBe(400);
      expect(body.detail).toContain('not available');
    },
  );

  it('are one list for operators, of all tenants, without what is in the files', async () => {
    const operator = exchange.as(aCaller({ tenantId: HOST_TENANT_ID }));
    const list = async (query: string) => (await operator.get(`/exchange-jobs${query}`)).body;
    const all = await list('?cursor=&pageSize=100');
    expect(all.items).toHaveLength(5);
    expect(all.items[0]).toEqual({
      kind: 'Export',
      id: exports['Failed'],
      tenantId: caller.tenantId,
      definitionName: 'Shop.Articles',
      status: 'Failed',
      rowsDone: 0,
      rowsFailed: 0,
      createdAt: expect.any(String),
      completedAt: expect.any(String),
      progressAt: null,
      errorMessage: 'The export was cancelled.',
    });
    expect(await list('?kind=import&filter[status.in]=Created,Cancelled')).toMatchObject({ totalCount: 2 });
    expect(await list(`?tenantId=${newId()}`)).toMatchObject({ items: [], totalCount: 0 });

    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: { id: string }[]; nextCursor: string | null } = await list(
        `?pageSize=2&sort=createdAt&cursor=${encodeURIComponent(cursor)}`,
      );
      walked.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(walked).toEqual(all.items.map(({ id }: { id: string }) => id).reverse());
    expect((await exchange.as(caller).get('/exchange-jobs')).status).toBe(403);
  });

  it('tell operators that an import was alive when it was executed, which may be long after its upload', async () => {
    const other = aCaller();
    const jobId = await mappedImport(exchange, other, 'code,title\nA,a\n');
    expect((await exchange.as(other).post(`/imports/${jobId}/execute`)).status).toBe(202);
    const operator = exchange.as(aCaller({ tenantId: HOST_TENANT_ID }));
    const { body } = await operator.get(`/exchange-jobs?tenantId=${other.tenantId}`);
    const [{ status, createdAt, progressAt }] = body.items;
    expect(status).toBe('Executing');
    expect(Date.parse(progressAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
  });
});
