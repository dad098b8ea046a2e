import { aCaller } from '@plinth/testing/http';
import { startDataExchange, upload, type DataExchange } from './start-data-exchange';

describe('who changed an import', () => {
  let exchange: DataExchange;
  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const mappings = [{ sourceColumn: 'code', targetProperty: 'code' }];

  it('is told with the job, and what its rows are', async () => {
    const [uploader, colleague] = [aCaller({ userId: 'ada' }), aCaller({ userId: 'bea' })];
    const caller = { ...colleague, tenantId: uploader.tenantId };
    const { body: uploaded } = await upload(exchange, uploader, 'code,title\nA,first\n');
    expect(uploaded).toMatchObject({ entityTypeName: 'Article', modifiedAt: null, modifiedBy: null });

    await exchange.as(uploader).post(`/imports/${uploaded.id}/preview`);
    await exchange.as(caller).put(`/imports/${uploaded.id}/draft-mappings`, { mappings });

    const { body: job } = await exchange.as(uploader).get(`/imports/${uploaded.id}`);
    expect(job).toMatchObject({ modifiedBy: 'bea', modifiedAt: expect.any(String) });
    expect(job.concurrencyStamp).not.toBe(uploaded.concurrencyStamp);
  });

  it('confirms mappings of the job that was read, not of one that somebody changed since', async () => {
    const caller = aCaller();
    const { body: uploaded } = await upload(exchange, caller, 'code,title\nA,first\n');
    const confirm = (concurrencyStamp?: string | null) =>
      exchange.as(caller).put(`/imports/${uploaded.id}/mappings`, {
        mappings: [...mappings, { sourceColumn: 'title', targetProperty: 'title' }],
        concurrencyStamp,
      });
    await exchange.as(caller).post(`/imports/${uploaded.id}/preview`);
    await exchange.as(caller).put(`/imports/${uploaded.id}/draft-mappings`, { mappings });

    for (const stamp of [uploaded.concurrencyStamp, 'something else', '']) {
      const refused = await confirm(stamp);
      expect(refused.status).toBe(409);
      expect(refused.body.type).toMatch(/stale-version$/);
    }

    const { body: job } = await exchange.as(caller).get(`/imports/${uploaded.id}`);
    expect((await confirm(job.concurrencyStamp)).status).toBe(204);
    expect((await confirm()).status).toBe(204);
    expect((await confirm(null)).status).toBe(204);
  });
});
