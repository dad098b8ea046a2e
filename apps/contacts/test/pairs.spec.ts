import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { aCompany, aContact, startContacts, type Contacts } from './start-contacts';

interface World {
  tenantId: string;
  as(operationId?: string): TestClient;
  contactId: string;
  companyId: string;
  etag: string;
}

describe('two writes at the same moment', () => {
  let service: Contacts;
  beforeAll(async () => {
    service = await startContacts();
  });
  afterAll(() => service.close());

  const ada = { externalId: 'P-1', lastName: 'Lovelace', channel: 'Email' };
  const engines = { externalId: 'C-1', name: 'Analytical Engines', kind: 'Customer', isActive: true };

  /** A contact, and a company that it does not belong to. */
  const setUp = async (): Promise<World> => {
    const tenantId = newId();
    const as = (operationId?: string) => service.as(aCaller({ tenantId, userId: 'ada', operationId }));
    const company = await aCompany(as(), engines);
    const contact = await aContact(as(), ada);
    const { headers } = await as().get(`/contacts/${contact.id}`);
    return { tenantId, as, contactId: contact.id, companyId: company.id, etag: headers.get('etag')! };
  };

  const ofCompany = { ...ada, company: { externalId: 'C-1' } };
  const writes: Record<string, Write<World>> = {
    'change the contact': ({ as, contactId }, id) =>
      as(id).put(`/contacts/${contactId}`, { ...ada, lastName: 'Byron' }),
    'change the contact that was read': ({ as, contactId, etag }, id) =>
      as(id).put(`/contacts/${contactId}`, { ...ada, lastName: 'King' }, { headers: { 'if-match': etag } }),
    'delete the contact': ({ as, contactId }, id) => as(id).delete(`/contacts/${contactId}`),
    'let it belong to the company': ({ as, contactId }, id) =>
      as(id).put(`/contacts/${contactId}`, ofCompany),
    'delete the company': ({ as, companyId }, id) => as(id).delete(`/companies/${companyId}`),
    'rename the company': ({ as, companyId }, id) =>
      as(id).put(`/companies/${companyId}`, { ...engines, externalId: 'C-2' }),
    'create a contact of the company': ({ as }, id) =>
      as(id).post('/contacts', { ...ofCompany, externalId: 'P-2' }),
    'create a company of its new name': ({ as }, id) =>
      as(id).post('/companies', { ...engines, externalId: 'C-2' }),
    'create the contact once more': ({ as }, id) => as(id).post('/contacts', ada),
  };

  const observe = async ({ as }: World) => {
    return Promise.all(
      ['/contacts?sort=externalId', '/companies?sort=externalId'].map((path) => as().get(path)),
    );
  };

  it('have an order: what is seen of them is what one after the other leads to', async () => {
    expect(
      await findUnserializable({
        setUp,
        writes,
        observe,
        eventsOf: ({ tenantId }) => eventsOf(service, tenantId),
      }),
    ).toEqual({});
  });
});
