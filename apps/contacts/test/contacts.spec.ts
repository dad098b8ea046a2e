import { contactDeleted, contactsSaved } from '@plinth/contracts/contacts/events';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { aCompany, aContact, eventsOf, startContacts, type Contacts } from './start-contacts';

describe('the endpoints of contacts', () => {
  let service: Contacts;
  beforeAll(async () => {
    service = await startContacts();
  });
  afterAll(() => service.close());

  it('store every field of a contact and show it to its tenant', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await aCompany(http, { externalId: 'C-1' });
    const fields = {
      externalId: 'P-1',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      phone: '+44 20 7946 0000',
      channel: 'Phone',
      wantsNews: true,
      bornOn: '1815-12-10',
      lastSpokenAt: '2026-11-21T10:00:00.000Z',
      company: { externalId: 'C-1' },
    };

    const made = await http.post('/contacts', fields);

    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ ...fields, stage: 'Prospect', createdBy: caller.userId });
    expect(made.headers.get('location')).toBe(`/api/v1/contacts/${made.body.id}`);
    const read = await http.get(`/contacts/${made.body.id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.get('etag')).toBe(made.headers.get('etag'));
    expect((await http.get('/contacts')).body).toMatchObject({ items: [made.body], totalCount: 1 });
  });

  it('respond 404 to other tenants', async () => {
    const { id } = await aContact(service.as(aCaller()));
    const stranger = service.as(aCaller());

    for (const response of [
      await stranger.get(`/contacts/${id}`),
      await stranger.delete(`/contacts/${id}`),
      await stranger.put(`/contacts/${id}`, { externalId: 'x', lastName: 'x', channel: 'Post' }),
    ]) {
      expect(response.status).toBe(404);
      expect(response.body.type).toMatch(/\/problems\/contact-not-found$/);
    }
    expect((await stranger.get('/contacts')).body.items).toEqual([]);
  });

  it('refuse a company that does not exist, or belongs to another tenant', async () => {
    await aCompany(service.as(aCaller()), { externalId: 'theirs' });
    const http = service.as(aCaller());

    const response = await http.post('/contacts', {
      externalId: 'P-1',
      lastName: 'Lovelace',
      channel: 'Post',
      company: { externalId: 'theirs' },
    });

    expect(response.status).toBe(422);
    expect(response.body.errors).toEqual({ 'company.externalId': ['Service:Validation:EnumValidator'] });
    expect((await http.get('/contacts')).body.totalCount).toBe(0);
  });

  it('refuse an external id that another contact of the tenant has', async () => {
    const http = service.as(aCaller());
    const first = await aContact(http, { externalId: 'P-1' });
    const second = await aContact(http, { externalId: 'P-2' });

    const again = await http.post('/contacts', { externalId: 'P-1', lastName: 'x', channel: 'Post' });
    const renamed = await http.put(`/contacts/${second.id}`, { ...second, externalId: 'P-1' });

    expect([again.status, renamed.status]).toEqual([409, 409]);
    expect(again.body.type).toMatch(/\/problems\/external-id-taken$/);
    expect((await aContact(service.as(aCaller()), { externalId: 'P-1' })).id).not.toBe(first.id);
  });

  it('refuse a change with the tag of a former version', async () => {
    const http = service.as(aCaller());
    const { id, ...contact } = await aContact(http);
    const etag = (await http.get(`/contacts/${id}`)).headers.get('etag')!;
    const change = (lastName: string) =>
      http.put(`/contacts/${id}`, { ...contact, lastName }, { headers: { 'if-match': etag } });

    const both = await Promise.all([change('Byron'), change('King')]);

    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await http.delete(`/contacts/${id}`, { headers: { 'if-match': etag } })).status).toBe(409);
    expect((await http.delete(`/contacts/${id}`)).status).toBe(204);
    expect((await http.get(`/contacts/${id}`)).status).toBe(404);
    expect((await change('gone')).status).toBe(404);
  });

  it('are found in any case of any alphabet, by external ids as well', async () => {
    const http = service.as(aCaller());
    await aContact(http, { externalId: 'É-100%_\\', lastName: 'ÅNGSTRÖM' });
    const found = async (query: string) => (await http.get(`/contacts?${query}`)).body.totalCount;
    const query = (text: string) => encodeURIComponent(text);

    for (const text of ['é-1', 'ångström', '%_\\', '0%'])
      expect([text, await found(`search=${query(text)}`)]).toEqual([text, 1]);
    for (const text of ['ð', '-%0', '1__', 'É-1.0', '\\\\'])
      expect([text, await found(`search=${query(text)}`)]).toEqual([text, 0]);
    expect(await found(`filter[externalId.startsWith]=${query('é-')}`)).toBe(1);
    expect(await found(`filter[lastName.endsWith]=${query('öm')}&filter[externalId.contains]=-1`)).toBe(1);
    expect(await found(`search=${query('a'.padEnd(400, 'x'))}`)).toBe(0);
  });

  it('clear the fields that a PUT leaves out', async () => {
    const http = service.as(aCaller());
    const { id } = await aContact(http, { email: 'ada@example.com', wantsNews: true });

    const { body } = await http.put(`/contacts/${id}`, {
      externalId: 'P-9',
      lastName: 'King',
      channel: 'Post',
    });

    expect(body).toMatchObject({ externalId: 'P-9', lastName: 'King', email: null, wantsNews: null });
  });

  it('create one contact per operation, however often it is repeated', async () => {
    const http = service.as(aCaller({ operationId: newId() }));
    const request = { externalId: 'P-1', lastName: 'Lovelace', channel: 'Email' };

    const both = await Promise.all([http.post('/contacts', request), http.post('/contacts', request)]);

    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    expect(both[0].body).toEqual(both[1].body);
    expect((await http.get('/contacts')).body.totalCount).toBe(1);
  });

  it('are changed once per operation, and what others changed since stays', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const { id } = await aContact(http, { externalId: 'P-1' });
    const saving = (lastName: string) => ({ externalId: 'P-1', channel: 'Email', lastName });
    const retried = service.as({ ...caller, operationId: newId() });
    const ifMatch = { headers: { 'if-match': (await http.get(`/contacts/${id}`)).headers.get('etag')! } };

    const first = await retried.put(`/contacts/${id}`, saving('King'), ifMatch);
    await http.put(`/contacts/${id}`, saving('Byron'));
    const again = await retried.put(`/contacts/${id}`, saving('King'), ifMatch);

    expect(first).toMatchObject({ status: 200, body: { lastName: 'King' } });
    expect(again).toMatchObject({ status: 200, body: { lastName: 'Byron' } });
    expect(await eventsOf(service, caller.tenantId, contactsSaved)).toHaveLength(3);
  });

  it('are deleted once per operation', async () => {
    const caller = aCaller();
    const { id } = await aContact(service.as(caller));
    const retried = service.as({ ...caller, operationId: newId() });

    const both = await Promise.all([retried.delete(`/contacts/${id}`), retried.delete(`/contacts/${id}`)]);

    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    expect((await service.as(caller).delete(`/contacts/${id}`)).status).toBe(404);
    expect(await eventsOf(service, caller.tenantId, contactDeleted)).toHaveLength(1);
  });

  it('find contacts by company, by search and by filter', async () => {
    const http = service.as(aCaller());
    await aCompany(http, { externalId: 'C-1' });
    await aContact(http, { externalId: 'P-1', lastName: 'Lovelace', company: { externalId: 'C-1' } });
    await aContact(http, { externalId: 'P-2', lastName: 'Babbage', bornOn: '1791-12-26' });
    const found = async (query: string) =>
      (await http.get(`/contacts?sort=externalId&${query}`)).body.items.map(
        ({ externalId }: { externalId: string }) => externalId,
      );

    expect(await found('filter[company.externalId.eq]=C-1')).toEqual(['P-1']);
    expect(await found('search=babb')).toEqual(['P-2']);
    expect(await found('filter[bornOn.lt]=1800-01-01')).toEqual(['P-2']);
    expect(await found('filter[stage.eq]=Prospect')).toEqual(['P-1', 'P-2']);
    expect((await http.get('/contacts?filter[company.eq]=C-1')).status).toBe(400);
    expect((await http.get('/contacts?sort=phone')).status).toBe(400);
  });

  it('list every contact exactly once, page by page with a cursor', async () => {
    const http = service.as(aCaller());
    for (const lastName of ['a', 'b', 'c']) await aContact(http, { lastName });

    const first = (await http.get('/contacts?cursor=&pageSize=2&sort=lastName')).body;
    const cursor = encodeURIComponent(first.nextCursor);
    const last = (await http.get(`/contacts?cursor=${cursor}&pageSize=2&sort=lastName`)).body;

    const names = [...first.items, ...last.items].map(({ lastName }) => lastName);
    expect(names).toEqual(['a', 'b', 'c']);
    expect(last.hasMore).toBe(false);
  });

  it('report every invalid field of a request', async () => {
    const http = service.as(aCaller());

    const response = await http.post('/contacts', {
      externalId: ' ',
      channel: 'Pigeon',
      email: 'not an email',
      bornOn: '1815-02-30',
    });

    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors).sort()).toEqual([
      'bornOn',
      'channel',
      'email',
      'externalId',
      'lastName',
    ]);
    expect((await http.post('/contacts', { externalId: 1 })).status).toBe(400);
  });

  it('require the permission to read, and another to change', async () => {
    const { id } = await aContact(service.as(aCaller()));
    const reader = service.as(aCaller({ permissions: ['Contacts.Contacts.Read'] }));

    expect((await reader.get('/contacts')).status).toBe(200);
    expect((await reader.delete(`/contacts/${id}`)).status).toBe(403);
    expect((await reader.get('/companies')).status).toBe(403);
  });
});
