import { newId } from '@plinth/kernel/uuid';
import { openExchangeOwner, type ExchangeOwner } from '@plinth/testing/exchange-owner';
import { aCaller } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { startContacts, type Contacts } from './start-contacts';

describe('the quotas of contacts and companies', () => {
  let service: Contacts;
  let owner: ExchangeOwner;
  beforeAll(async () => {
    service = await startContacts({ environment: { CONTACTS_TENANT_RECORDS_MAX: '20' } });
    owner = await openExchangeOwner(grpcServices(service));
  });
  afterAll(async () => {
    await owner.close();
    await service.close();
  });

  const contact = () => ({ externalId: newId(), lastName: 'Lovelace', channel: 'Email' });
  const company = () => ({ externalId: newId(), name: 'Engines', kind: 'Customer', isActive: true });

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuse one more contact, also of an import, and leave companies alone', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const first = contact();
    const { body } = await http.post('/contacts', first);
    for (let count = 0; count < 21; count++) await http.post('/contacts', contact());
    const refused = await http.post('/contacts', contact());
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'contacts', scope: 'tenant', limit: 20 } },
    });
    expect((await http.put(`/contacts/${body.id}`, { ...first, lastName: 'King' })).status).toBe(200);
    expect((await http.post('/companies', company())).status).toBe(201);

    const { results } = await owner.importRows(
      caller,
      {
        definition: 'Contacts.Contacts',
        columns: ['externalId', 'lastName', 'channel'],
        mode: 'UPSERT',
        commit: 'EACH_BATCH',
      },
      [[[2, 'P-1', 'Lovelace', 'Email']]],
    );
    expect(results[0]).toMatchObject({
      failed: 1,
      failures: [{ details: [{ code: 'Service:Validation:QuotaExceeded' }] }],
    });
  });
});
