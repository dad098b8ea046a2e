import { contactsNoted } from '@plinth/contracts/contacts/events';
import { newId } from '@plinth/kernel/uuid';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { aCaller } from '@plinth/testing/http';
import { aCompany, aContact, eventsOf, startContacts, type Contacts } from './start-contacts';

describe('the endpoints of companies', () => {
  let service: Contacts;
  beforeAll(async () => {
    service = await startContacts();
  });
  afterAll(() => service.close());

  it('store numbers, days and texts of a company exactly', async () => {
    const http = service.as(aCaller());
    const fields = {
      externalId: 'C-1',
      name: 'Société Générale d’Essais 🚀',
      kind: 'Partner',
      isActive: false,
      foundedOn: '1864-05-04',
      creditLimit: 9_999_999_999_999.99,
      employees: 0,
      email: 'hello@example.com',
    };

    const { body } = await http.post('/companies', fields);

    expect(body).toMatchObject(fields);
    expect((await http.get(`/companies/${body.id}`)).body).toEqual(body);
    expect((await http.get('/companies?filter[creditLimit.gte]=9999999999999.99')).body.totalCount).toBe(1);
  });

  it('accept filters by numbers and days that no company has', async () => {
    const http = service.as(aCaller());
    const status = async (filter: string) => (await http.get(`/companies?filter[${filter}`)).status;

    expect(await status('employees.eq]=999999999999999')).toBe(200);
    expect(await status('creditLimit.between]=-1,999999999999999.999999')).toBe(200);
    expect(await status('foundedOn.lt]=9999-12-31')).toBe(200);
    expect(await status('foundedOn.eq]=0000-01-01')).toBe(400);
    expect(await status('createdAt.gt]=9999-12-31T23:59:59-14:00')).toBe(400);
    const company = { externalId: 'C-1', name: 'x', kind: 'Customer', isActive: true };
    expect((await http.post('/companies', { ...company, foundedOn: '0000-01-01' })).body.errors).toEqual({
      foundedOn: ['Service:Validation:RangeValidator'],
    });
  });

  it('accept amounts to the cent and refuse finer ones', async () => {
    const http = service.as(aCaller());
    const company = { externalId: 'C-1', name: 'x', kind: 'Customer', isActive: true };

    expect((await http.post('/companies', { ...company, creditLimit: 1.005 })).body.errors).toEqual({
      creditLimit: ['Service:Validation:FormatValidator'],
    });
    expect((await http.post('/companies', { ...company, creditLimit: 0.07 })).body.creditLimit).toBe(0.07);
  });

  it('refuse to delete a company that contacts belong to', async () => {
    const http = service.as(aCaller());
    const { id } = await aCompany(http, { externalId: 'C-1' });
    const contact = await aContact(http, { company: { externalId: 'C-1' } });

    const refused = await http.delete(`/companies/${id}`);
    await http.delete(`/contacts/${contact.id}`);

    expect(refused.status).toBe(409);
    expect(refused.body.type).toMatch(/\/problems\/company-in-use$/);
    expect((await http.delete(`/companies/${id}`)).status).toBe(204);
    expect((await http.delete(`/companies/${id}`)).body.type).toMatch(/\/problems\/company-not-found$/);
  });

  it('leave contacts with their company when its external id changes', async () => {
    const http = service.as(aCaller());
    const company = await aCompany(http, { externalId: 'old' });
    const { id } = await aContact(http, { company: { externalId: 'old' } });

    await http.put(`/companies/${company.id}`, { ...company, externalId: 'new' });

    expect((await http.get(`/contacts/${id}`)).body.company).toEqual({ externalId: 'new' });
  });

  it('give their contacts another tag when their external id changes, as contacts name it', async () => {
    const http = service.as(aCaller());
    const company = await aCompany(http, { externalId: 'old' });
    const { id, ...contact } = await aContact(http, { company: { externalId: 'old' } });
    const tagOf = async () => (await http.get(`/contacts/${id}`)).headers.get('etag')!;
    const former = await tagOf();
    const put = async (externalId: string, etag: string) => {
      const body = { ...contact, company: { externalId } };
      return (await http.put(`/contacts/${id}`, body, { headers: { 'if-match': etag } })).status;
    };
    await http.put(`/companies/${company.id}`, { ...company, externalId: 'new' });

    const read = await http.get(`/contacts/${id}`, { headers: { 'if-none-match': former } });
    expect([read.status, read.body?.company]).toEqual([200, { externalId: 'new' }]);
    await aCompany(http, { externalId: 'old' });
    expect(await put('old', former)).toBe(409);
    expect((await http.delete(`/contacts/${id}`, { headers: { 'if-match': former } })).status).toBe(409);
    expect(await put('new', await tagOf())).toBe(200);
    expect((await http.get(`/contacts/${id}`)).body.company).toEqual({ externalId: 'new' });
  });

  it('keep the external id that the tag of a contact is about until the contact is changed', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const company = await aCompany(http, { externalId: 'old' });
    const { id, ...contact } = await aContact(http, { company: { externalId: 'old' } });
    const etag = (await http.get(`/contacts/${id}`)).headers.get('etag')!;
    const renamed = { text: "UPDATE company SET external_id = 'new' WHERE id = $1", values: [company.id] };
    const added = {
      text: `INSERT INTO company SELECT (jsonb_populate_record(company, $2)).* FROM company WHERE id = $1`,
      values: [company.id, { id: newId(), external_id: 'old' }],
    };

    const [changed] = await behindLock(service.database!.adminUrl, [renamed, added], () =>
      http.put(`/contacts/${id}`, contact, { headers: { 'if-match': etag } }),
    );

    expect([changed!.status, changed!.body.type]).toEqual([409, expect.stringMatching(/stale-version$/)]);
    expect((await http.get(`/contacts/${id}`)).body.company).toEqual({ externalId: 'new' });
  });

  it('publish every change for timelines, in the transaction of the change', async () => {
    const caller = aCaller({ userName: 'Ada' });
    const http = service.as(caller);
    const company = await aCompany(http);
    await http.put(`/companies/${company.id}`, company);
    await http.delete(`/companies/${company.id}`);

    const events = await eventsOf(service, caller.tenantId, contactsNoted);
    expect(events.map(({ payload }) => payload['texts'])).toMatchObject([
      { en: 'Created.' },
      { en: 'Changed.' },
      { en: 'Deleted.' },
    ]);
    expect(events[0]).toMatchObject({
      actor_name: 'Ada',
      payload: { entityType: 'Company', entityIds: [company.id] },
    });
  });
});
