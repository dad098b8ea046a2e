import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { Client } from 'pg';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization();
});
afterAll(() => localization.close());
afterEach(() => expect(({} as Record<string, unknown>)['polluted']).toBeUndefined());

const at = (key: string, culture = 'en', resource = 'Shop') =>
  `/localization/overrides/${encodeURIComponent(resource)}/${culture}/${encodeURIComponent(key)}`;
const listed = async (client: TestClient, culture = 'en', resource = 'Shop') =>
  (
    await client.get(
      `/localization/overrides?resourceName=${encodeURIComponent(resource)}&cultureName=${culture}`,
    )
  ).body;
const newClient = () => localization.as(aCaller());

describe('PUT /localization/overrides/{resourceName}/{cultureName}/{key}', () => {
  it('creates an override that the next request shows, and then updates it', async () => {
    const client = newClient();

    const created = await client.put(at('title'), { value: 'Store' });
    expect([created.status, created.text]).toEqual([204, '']);
    expect(await listed(client)).toEqual({ title: 'Store' });
    expect((await client.get('/localization?cultureName=en-GB')).body.resources.Shop).toEqual({
      title: 'Store',
    });

    await client.put(at('title'), { value: 'Bazaar' });
    expect((await client.get('/localization?cultureName=en-GB')).body.resources.Shop).toEqual({
      title: 'Bazaar',
    });
  });

  it('replaces the text of the platform, and may be empty', async () => {
    const client = newClient();
    await client.put(at('outcomes.Denied', 'fr', 'Workflow'), { value: '' });
    expect(
      (await client.get('/localization?cultureName=fr-CA')).body.resources.Workflow['outcomes.Denied'],
    ).toBe('');
  });

  it.each([
    'a/b',
    'a.b.c',
    'with space',
    'é',
    '日本語',
    '%',
    '%2F',
    '?#&',
    '__proto__',
    'constructor',
    'a.__proto__.polluted',
  ])('accepts the key "%s" as it is', async (key) => {
    const client = newClient();
    expect((await client.put(at(key), { value: 'text' })).status).toBe(204);
    expect(Object.entries(await listed(client))).toEqual([[key, 'text']]);
    const { body } = await client.get('/localization?cultureName=en');
    expect(Object.entries(body.resources.Shop)).toEqual([[key, 'text']]);
    expect((await client.delete(at(key))).status).toBe(204);
    expect(await listed(client)).toEqual({});
  });

  it('accepts hostile names of resources as data', async () => {
    const client = newClient();
    expect((await client.put(at('polluted', 'en', '__proto__'), { value: 'text' })).status).toBe(204);
    expect((await client.get('/localization?cultureName=en')).text).toContain(
      '"__proto__":{"polluted":"text"}',
    );
  });

  it('treats composed and decomposed spellings of a key as one', async () => {
    const client = newClient();
    await client.put(at('cafe\u0301'), { value: 'one' });
    await client.put(at('caf\u00e9'), { value: 'two' });
    expect(await listed(client)).toEqual({ 'caf\u00e9': 'two' });
  });

  it('stores a value exactly as it was sent', async () => {
    const client = newClient();
    const value = ' e\u0301 \u00a0\u202f\n\t{not a placeholder} 🎉 ';
    await client.put(at('title'), { value });
    expect((await listed(client)).title).toBe(value);
  });

  it('spells a culture in its canonical form', async () => {
    const client = newClient();
    await client.put(at('title', 'FR-ca'), { value: 'Boutique' });
    expect(await listed(client, 'fr-CA')).toEqual({ title: 'Boutique' });
  });

  it.each([
    [500, 4_000, 204],
    [501, 1, 422],
    [1, 4_001, 422],
  ])(
    'responds to a key of %i and a value of %i characters with %i',
    async (keyLength, valueLength, status) => {
      const response = await newClient().put(at('🎉'.repeat(keyLength)), { value: '🎉'.repeat(valueLength) });
      expect(response.status).toBe(status);
      if (status === 422) {
        expect(response.body.errors).toEqual({
          [keyLength > 500 ? 'key' : 'value']: ['Service:Validation:MaximumLengthValidator'],
        });
      }
    },
  );

  it('accepts the longest resource name with the longest key', async () => {
    const response = await newClient().put(at('🎉'.repeat(500), 'en', '🎉'.repeat(128)), { value: 'x' });
    expect(response.status).toBe(204);
    expect((await newClient().put(at('key', 'en', 'r'.repeat(129)), { value: 'x' })).status).toBe(422);
  });

  it.each([
    [{}, 422, { value: ['Service:Validation:NotEmptyValidator'] }],
    [{ value: null }, 422, { value: ['Service:Validation:NotNullValidator'] }],
    [{ value: 'a\0b' }, 422, { value: ['Service:Validation:FormatValidator'] }],
    [{ value: '\ud800' }, 422, { value: ['Service:Validation:FormatValidator'] }],
    [{ value: 1 }, 400, undefined],
    [[], 400, undefined],
    ['{"value":', 400, undefined],
  ])('responds to the body %j with %i', async (body, status, errors) => {
    const response = await newClient().put(at('title'), body, {
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.body.errors]).toEqual([status, errors]);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  it.each([
    [at('title', 'fr_CA'), 400],
    [at('title', 'e'), 400],
    ['/localization/overrides/Shop/en/a%00b', 400],
    ['/localization/overrides/Shop/en/a%FFb', 400],
    ['/localization/overrides/Shop/en/', 404],
  ])('responds to the URL %s with %i', async (address, status) => {
    expect((await newClient().put(address, { value: 'x' })).status).toBe(status);
  });

  it('names the placeholders that differ from those of the text it replaces', async () => {
    const client = newClient();
    const response = await client.put(at('lists.range', 'fr-CA', 'Platform'), { value: '{0} de {total}' });

    expect(response.status).toBe(422);
    expect(response.body.errors).toEqual({ value: ['Service:Validation:FormatValidator'] });
    expect(response.body.detail).toContain('missing: {1}, {2}');
    expect(response.body.detail).toContain('unexpected: {total}');
    expect(await listed(client, 'fr-CA', 'Platform')).toEqual({});
  });

  it('compares the placeholders of ICU messages', async () => {
    const client = newClient();
    const address = at('lists.total', 'fr', 'Platform');
    expect((await client.put(address, { value: '{count, plural, one {un} other {# trucs}}' })).status).toBe(
      204,
    );
    expect((await client.put(address, { value: '{n, plural, one {un} other {# trucs}}' })).status).toBe(422);
  });

  it('requires the permission', async () => {
    const client = localization.as(aCaller({ permissions: ['Settings.Tenant.Manage'] }));
    expect((await client.put(at('title'), { value: 'x' })).status).toBe(403);
    expect((await client.delete(at('title'))).status).toBe(403);
    expect((await client.get('/localization/overrides?resourceName=Shop&cultureName=en')).status).toBe(403);
    expect((await client.put('/localization/overrides', { items: [] })).status).toBe(403);
    expect((await localization.as(null).put(at('title'), { value: 'x' })).status).toBe(401);
    const manager = localization.as(aCaller({ permissions: ['Localization.Overrides.Manage'] }));
    expect((await manager.put(at('title'), { value: 'x' })).status).toBe(204);
  });
});

describe('the entity tag of an override', () => {
  it('refuses a change by a caller who did not see the last one', async () => {
    const client = newClient();
    const first = (await client.put(at('title'), { value: 'one' })).headers.get('etag')!;
    expect(first).toMatch(/^"[^"]+"$/);
    const second = (
      await client.put(at('title'), { value: 'two' }, { headers: { 'if-match': first } })
    ).headers.get('etag')!;
    expect(second).not.toBe(first);

    const stale = await client.put(at('title'), { value: 'three' }, { headers: { 'if-match': first } });
    expect(stale.status).toBe(409);
    expect((await client.delete(at('title'), { headers: { 'if-match': first } })).status).toBe(409);
    expect((await client.put(at('other'), { value: 'x' }, { headers: { 'if-match': '*' } })).status).toBe(
      409,
    );
    expect(await listed(client)).toEqual({ title: 'two' });
    expect((await client.delete(at('title'), { headers: { 'if-match': second } })).status).toBe(204);
  });

  it('is the one that reading returns, and is never used again after a removal', async () => {
    const client = newClient();
    await client.put(at('title'), { value: 'one' });
    const { status, body, headers } = await client.get(at('title'));
    expect(status).toBe(200);
    expect(body).toEqual({ resourceName: 'Shop', cultureName: 'en', key: 'title', value: 'one' });
    const etag = headers.get('etag')!;
    expect((await client.get(at('title'), { headers: { 'if-none-match': etag } })).status).toBe(304);

    await client.delete(at('title'));
    expect((await client.get(at('title'))).status).toBe(404);
    await client.put(at('title'), { value: 'one' });
    expect((await client.put(at('title'), { value: 'two' }, { headers: { 'if-match': etag } })).status).toBe(
      409,
    );
  });

  it('lets exactly one of many racing changes succeed', async () => {
    const client = newClient();
    const etag = (await client.put(at('title'), { value: 'start' })).headers.get('etag')!;
    const racing = Array.from({ length: 8 }, (_, index) =>
      client.put(at('title'), { value: `racer ${index}` }, { headers: { 'if-match': etag } }),
    );
    const statuses = (await Promise.all(racing)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, ...Array.from({ length: 7 }, () => 409)]);
  });

  it('lets exactly one of many racing creations succeed that replace nothing', async () => {
    const client = newClient();
    const create = (value: string) =>
      client.put(at('title'), { value }, { headers: { 'if-none-match': '*' } });
    const racing = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`racer ${index}`)));
    expect(racing.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 409)]);
    const { headers, body } = await client.get(at('title'));
    expect(racing.find(({ status }) => status === 204)!.headers.get('etag')).toBe(headers.get('etag'));

    expect((await create('late')).status).toBe(409);
    expect((await client.get(at('title'))).body).toEqual(body);
    await client.delete(at('title'));
    expect((await create('anew')).status).toBe(204);
  });

  it('is optional: racing changes without it all succeed', async () => {
    const client = newClient();
    const racing = Array.from({ length: 8 }, (_, index) =>
      client.put(at('title'), { value: `racer ${index}` }),
    );
    expect((await Promise.all(racing)).map(({ status }) => status)).toEqual(
      Array.from({ length: 8 }, () => 204),
    );
    expect(Object.keys(await listed(client))).toEqual(['title']);
  });
});

describe('DELETE /localization/overrides/{resourceName}/{cultureName}/{key}', () => {
  it('shows the text of the platform again, and responds 204 also where there is no override', async () => {
    const client = newClient();
    await client.put(at('outcomes.Denied', 'en', 'Workflow'), { value: 'No way' });
    const text = async () =>
      (await client.get('/localization?cultureName=en')).body.resources.Workflow['outcomes.Denied'];
    expect(await text()).toBe('No way');

    expect((await client.delete(at('outcomes.Denied', 'en', 'Workflow'))).status).toBe(204);
    expect(await text()).toBe('Denied');
    expect((await client.delete(at('outcomes.Denied', 'en', 'Workflow'))).status).toBe(204);
  });
});

describe('GET /localization/overrides', () => {
  it.each([
    ['', { resourceName: expect.anything(), cultureName: expect.anything() }],
    ['?resourceName=Shop', { cultureName: ['Service:Validation:NotEmptyValidator'] }],
  ])('responds 422 to %s', async (query, errors) => {
    const response = await newClient().get(`/localization/overrides${query}`);
    expect([response.status, response.body.errors]).toEqual([422, errors]);
  });

  it('refuses a malformed culture, and is empty for an unknown one', async () => {
    const client = newClient();
    expect((await client.get('/localization/overrides?resourceName=Shop&cultureName=fr_CA')).status).toBe(
      400,
    );
    expect(await listed(client, 'ja', 'Nothing')).toEqual({});
  });

  it('is private and responds 304 while nothing changed', async () => {
    const client = newClient();
    const address = '/localization/overrides?resourceName=Shop&cultureName=en';
    const { headers } = await client.get(address);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect((await client.get(address, { headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(
      304,
    );
  });
});

describe('a change of an override with an idempotency key', () => {
  it('has one effect and one response, however often it is repeated', async () => {
    const caller = aCaller();
    const retried = localization.as({ ...caller, operationId: newId() });
    const client = localization.as(caller);

    const first = await retried.put(at('title'), { value: 'first' });
    await client.put(at('title'), { value: 'second' });
    const again = await retried.put(at('title'), { value: 'first' });

    expect([again.status, again.headers.get('etag')]).toEqual([204, first.headers.get('etag')]);
    expect(await listed(client)).toEqual({ title: 'second' });
  });

  it('has one effect also when repetitions run concurrently', async () => {
    const caller = aCaller();
    const retried = localization.as({ ...caller, operationId: newId() });
    const responses = await Promise.all([1, 2, 3, 4].map(() => retried.put(at('title'), { value: 'once' })));
    expect(new Set(responses.map(({ status, headers }) => `${status} ${headers.get('etag')}`)).size).toBe(1);
    expect(responses[0]!.status).toBe(204);
  });
});

describe('every change of an override', () => {
  it('is published as one event', async () => {
    const caller = aCaller();
    const client = localization.as(caller);
    await client.put(at('title'), { value: 'one' });
    await client.put(at('title'), { value: 'two' });
    await client.delete(at('title'));
    await client.delete(at('title'));

    const admin = new Client({ connectionString: localization.database!.adminUrl });
    await admin.connect();
    const { rows } = await admin.query(
      'SELECT name, payload, actor_id FROM outbox WHERE tenant_id = $1 ORDER BY sequence',
      [caller.tenantId],
    );
    await admin.end();

    expect(rows).toEqual(
      [1, 2, 3].map(() => ({
        name: 'localization.override-changed',
        payload: { changeCount: 1, bundles: [{ resourceName: 'Shop', cultureName: 'en' }] },
        actor_id: caller.userId,
      })),
    );
  });
});
