import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startLocalization, type Localization } from './start-localization';

describe('the quota of texts of a tenant', () => {
  let localization: Localization;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    localization = await startLocalization({ environment: { LOCALIZATION_TENANT_OVERRIDES_MAX: '20' } });
    owner = await openExchangeOwner(grpcServices(localization));
  });
  afterAll(async () => {
    await owner.close();
    await localization.close();
  });

  const item = (key: string, value = 'Un') => ({ resourceName: 'Shop', cultureName: 'fr', key, value });

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuses new texts beyond it one by one, in a batch and in an import, and lets others change', async () => {
    const caller = aCaller();
    const http = localization.as(caller);
    const put = (key: string, value?: string) =>
      http.put(`/localization/overrides/Shop/fr/${key}`, { value: value ?? 'Un' });
    const putMany = (...keys: string[]) =>
      http.put('/localization/overrides', { items: keys.map((key) => item(key)) });

    for (let count = 0; count < 10; count++) expect((await put(`k${count}`)).status).toBe(204);
    for (let count = 10; count < 21; count++) await put(`k${count}`);
    const refused = await put('new');
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'texts', scope: 'tenant', limit: 20 } },
    });
    expect((await putMany('k0', 'new')).status).toBe(429);
    expect([(await put('k0', 'Deux')).status, (await putMany('k0', 'k1')).status]).toEqual([204, 207]);
    const texts = (await http.get('/localization/overrides?resourceName=Shop&cultureName=fr')).body;
    expect([texts.k0, texts.new]).toEqual(['Un', undefined]);

    const imported = await owner.importRows(
      caller,
      {
        definition: 'Localization.Overrides',
        columns: ['resourceName', 'cultureName', 'key', 'value'],
        mode: 'UPSERT',
        commit: 'EACH_BATCH',
      },
      [[[2, 'Shop', 'fr', 'e', 'Un']]],
    );
    expect(imported.results[0]).toMatchObject({
      failed: 1,
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
  });
});
