import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { firstRows } from '@plinth/testing/list-requests';
import { Client } from 'pg';
import { settingStore } from '../src/store/setting-store';
import { startSettings, type Settings } from './start-settings';

const CULTURE = 'Service.Localization.PreferredCulture';
const ZONE = 'Service.Timing.PreferredTimezone';

let service: Settings;
beforeAll(async () => {
  service = await startSettings({ environment: { SETTINGS_VALUES: JSON.stringify({ [ZONE]: 'Etc/UTC' }) } });
  await service.definitions.register('test', [
    definition({ name: 'Test.TenantOnly', scopes: ['tenant'] }),
    definition({ name: 'Test.Secret', isSecret: true }),
    definition({ name: 'Test.Hidden', isVisibleToUsers: false }),
  ]);
});
afterAll(() => service.close());

const definition = (parts: object) => ({
  name: 'Test.Any',
  description: 'for tests',
  defaultValue: null,
  scopes: ['user' as const, 'tenant' as const, 'global' as const],
  isVisibleToUsers: true,
  isSecret: false,
  schema: { type: 'string' },
  ...parts,
});

const aHost = () => aCaller({ tenantId: HOST_TENANT_ID });
const codes = (rule: string) => [`Service:Validation:${rule}Validator`];

describe('GET /settings/{scope}/{name}/history', () => {
  it('is read to its end by cursor, however large the values of its changes are', async () => {
    const caller = aCaller();
    // A control character takes six bytes of JSON: a hundred changes are more than a response may be.
    await service.db.inTenant(caller.tenantId, (tx) =>
      tx.settingChange.createMany({
        data: Array.from({ length: 60 }, () => ({
          tenantId: caller.tenantId,
          id: newId(),
          scope: 'tenant',
          userId: '',
          name: ZONE,
          kind: 'Set',
          previousValue: '\u0001'.repeat(65_536),
          newValue: '\u0001'.repeat(65_536),
          changedAt: new Date(),
          changedBy: caller.userId,
        })),
      }),
    );

    const ids = new Set<string>();
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = new URLSearchParams({ cursor, pageSize: '100' });
      const { status, body } = await service
        .as(caller)
        .get(`/settings/tenant/${ZONE}/history?${query.toString()}`);
      expect(status).toBe(200);
      for (const { id } of body.items) ids.add(id);
      cursor = body.nextCursor;
    }

    expect(ids.size).toBe(60);
  });
});

describe('GET /settings/{scope}/{name}', () => {
  it('returns the first value that is not null: user, tenant, global, config, default', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const host = service.as(aHost());
    const value = async () => (await http.get(`/settings/user/${ZONE}`)).body.value;

    expect(await value()).toBe('Etc/UTC');
    await host.put(`/settings/global/${ZONE}`, { value: 'Europe/London' });
    expect(await value()).toBe('Europe/London');
    await http.put(`/settings/tenant/${ZONE}`, { value: 'Europe/Paris' });
    expect(await value()).toBe('Europe/Paris');
    await http.put(`/settings/user/${ZONE}`, { value: 'America/Montreal' });
    expect(await value()).toBe('America/Montreal');

    expect((await http.delete(`/settings/user/${ZONE}`)).status).toBe(204);
    expect(await value()).toBe('Europe/Paris');
    expect((await http.put(`/settings/tenant/${ZONE}`, { value: null })).status).toBe(204);
    expect(await value()).toBe('Europe/London');
    await host.delete(`/settings/global/${ZONE}`);
    expect(await value()).toBe('Etc/UTC');
  });

  it('returns the values of one user in one tenant only', async () => {
    const ada = aCaller();
    await service.as(ada).put(`/settings/user/${CULTURE}`, { value: 'fr' });
    const colleague = service.as({ ...ada, userId: 'another-user' });
    expect((await colleague.get(`/settings/user/${CULTURE}`)).body).toEqual({ name: CULTURE, value: null });
    const namesake = service.as(aCaller({ userId: ada.userId }));
    expect((await namesake.get(`/settings/user/${CULTURE}`)).body).toEqual({ name: CULTURE, value: null });
  });

  it('is cached privately, and responds 304 to a matching tag', async () => {
    const http = service.as(aCaller());
    const first = await http.get(`/settings/user/${CULTURE}`);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const etag = first.headers.get('etag')!;
    expect((await http.get(`/settings/user/${CULTURE}`, { headers: { 'if-none-match': etag } })).status).toBe(
      304,
    );
  });

  it('responds 404 for a setting that is not defined, or not meant for users', async () => {
    const http = service.as(aCaller());
    const response = await http.get('/settings/user/Test.Nowhere');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.body).toMatchObject({
      type: expect.stringMatching(/\/problems\/setting-not-defined$/),
      status: 404,
    });
    expect((await http.get('/settings/user/Test.Hidden')).status).toBe(404);
    expect((await http.get('/settings/tenant/Test.Hidden')).status).toBe(200);
  });

  it('responds 400 for a scope that is not one of the three', async () => {
    expect((await service.as(aCaller()).get(`/settings/planet/${CULTURE}`)).status).toBe(400);
  });
});

describe('GET /settings/{scope}', () => {
  it('lists the resolved values of all visible settings', async () => {
    const http = service.as(aCaller());
    await http.put(`/settings/tenant/${CULTURE}`, { value: 'fr-CA' });
    const user = (await http.get('/settings/user')).body;
    expect(user).toMatchObject({ [CULTURE]: 'fr-CA', [ZONE]: 'Etc/UTC', 'Test.TenantOnly': null });
    expect(user).not.toHaveProperty(['Test.Hidden']);
    expect((await http.get('/settings/tenant')).body).toHaveProperty(['Test.Hidden'], null);
  });
});

describe('PUT /settings/{scope}/{name}', () => {
  it.each([
    ['no JSON', '{', 400],
    ['a number', { value: 7 }, 400],
    ['nothing', '', 400],
    ['no value', {}, 422],
    ['a value that breaks the schema', { value: 'no culture' }, 422],
    ['NUL', { value: 'fr\0' }, 422],
  ])('refuses %s and leaves the value as it was', async (_, body, status) => {
    const http = service.as(aCaller());
    await http.put(`/settings/user/${CULTURE}`, { value: 'fr' });
    const response = await http.put(`/settings/user/${CULTURE}`, body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect((await http.get(`/settings/user/${CULTURE}`)).body.value).toBe('fr');
  });

  it('names the broken rule', async () => {
    const http = service.as(aCaller());
    expect((await http.put(`/settings/user/${CULTURE}`, {})).body.errors).toEqual({
      value: codes('NotEmpty'),
    });
    expect((await http.put(`/settings/user/${CULTURE}`, { value: 'no culture' })).body.errors).toEqual({
      value: codes('Format'),
    });
  });

  it('responds 409 at a scope that the definition does not allow', async () => {
    expect((await service.as(aCaller()).put('/settings/user/Test.TenantOnly', { value: 'x' })).status).toBe(
      409,
    );
  });

  it('requires the permission of the scope, and the host tenant for global', async () => {
    const stranger = service.as(aCaller({ permissions: [] }));
    expect((await stranger.put(`/settings/user/${CULTURE}`, { value: 'fr' })).status).toBe(204);
    expect((await stranger.put(`/settings/tenant/${CULTURE}`, { value: 'fr' })).status).toBe(403);
    expect((await stranger.get('/settings/tenant')).status).toBe(403);
    const administrator = service.as(aCaller());
    expect((await administrator.put(`/settings/global/${CULTURE}`, { value: 'fr' })).status).toBe(403);
    expect((await administrator.get('/settings/global')).status).toBe(403);
    expect((await service.as(aHost()).get('/settings/global')).status).toBe(200);
  });

  it('responds 409 to a stale If-Match and changes nothing', async () => {
    const http = service.as(aCaller());
    const etag = (await http.get(`/settings/user/${CULTURE}`)).headers.get('etag')!;
    const matching = { headers: { 'if-match': etag } };
    expect((await http.put(`/settings/user/${CULTURE}`, { value: 'fr' }, matching)).status).toBe(204);
    expect((await http.put(`/settings/user/${CULTURE}`, { value: 'en' }, matching)).status).toBe(409);
    expect((await http.delete(`/settings/user/${CULTURE}`, matching)).status).toBe(409);
    expect((await http.get(`/settings/user/${CULTURE}`)).body.value).toBe('fr');
  });

  it.each([
    ['a value', `/settings/user/${CULTURE}`, 'fr'],
    ['nothing, so that the tenant is seen', `/settings/user/${CULTURE}`, null],
    ['a secret', '/settings/tenant/Test.Secret', 'sesame'],
  ])('responds to the writing of %s with the tag that is read then', async (_what, path, value) => {
    const caller = aCaller();
    const http = service.as(caller);
    const written = await service.as({ ...caller, operationId: 'one' }).put(path, { value });
    const etag = written.headers.get('etag')!;
    expect([written.status, (await http.get(path)).headers.get('etag')]).toEqual([204, etag]);

    const next = await http.put(path, { value: 'fr-CA' }, { headers: { 'if-match': etag } });
    expect(next.status).toBe(204);
    expect(next.headers.get('etag')).not.toBe(etag);
    // A retry knows what it wrote, not what others wrote since.
    const retried = await service.as({ ...caller, operationId: 'one' }).put(path, { value });
    expect(retried.headers.get('etag')).toBe(etag);
  });

  it('has one effect per operation, however often it is repeated', async () => {
    const caller = aCaller();
    const retried = service.as({ ...caller, operationId: 'one-operation' });
    const http = service.as(caller);
    await retried.put(`/settings/user/${CULTURE}`, { value: 'fr' });
    await http.put(`/settings/user/${CULTURE}`, { value: 'en' });
    expect((await retried.put(`/settings/user/${CULTURE}`, { value: 'fr' })).status).toBe(204);
    expect((await http.get(`/settings/user/${CULTURE}`)).body.value).toBe('en');
  });

  it('is 422 for another value under the idempotency key of an operation that was executed', async () => {
    const caller = aCaller({ operationId: 'one-operation' });
    const sending = (operationBodyHash: string, value: string) =>
      service.as({ ...caller, operationBodyHash }).put(`/settings/user/${CULTURE}`, { value });
    await sending('first', 'fr');

    expect(await sending('second', 'en')).toMatchObject({
      status: 422,
      body: { type: expect.stringContaining('/problems/idempotency-payload-mismatch') },
    });
    expect((await sending('first', 'fr')).status).toBe(204);
    expect((await service.as(caller).get(`/settings/user/${CULTURE}`)).body.value).toBe('fr');
  });

  it('stores secrets sealed, and masks them in every response', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    await http.put('/settings/tenant/Test.Secret', { value: 'open sesame' });
    expect((await http.get('/settings/tenant/Test.Secret')).body.value).toBe('***');
    expect((await http.get('/settings/user')).body['Test.Secret']).toBe('***');
    expect((await http.get('/settings/tenant/Test.Secret/history')).text).not.toContain('sesame');
    expect((await http.get('/settings/effective')).text).not.toContain('sesame');
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    const { rows } = await admin.query(
      `SELECT value FROM setting_value WHERE name = 'Test.Secret' AND tenant_id = $1`,
      [caller.tenantId],
    );
    await admin.end();
    expect(rows).toHaveLength(1);
    expect(rows[0].value).not.toContain('sesame');
  });
});

describe('DELETE /settings/{scope}/{name}', () => {
  it('responds 204 also where nothing is set', async () => {
    expect((await service.as(aCaller()).delete(`/settings/user/${CULTURE}`)).status).toBe(204);
  });
});

describe('PUT /settings/{scope}', () => {
  it('counts the last one of two values for a setting, also of one operation', async () => {
    const caller = aCaller();
    const retried = service.as({ ...caller, operationId: 'one-operation' });
    const twice = ['fr', 'en'].map((value) => ({ name: CULTURE, value }));

    expect((await retried.put('/settings/user', { items: twice })).body.successCount).toBe(2);

    const current = async () => (await service.as(caller).get(`/settings/user/${CULTURE}`)).body.value;
    expect(await current()).toBe('en');
    await service.as(caller).put(`/settings/user/${CULTURE}`, { value: 'fr-CA' });
    await retried.put('/settings/user', { items: twice });
    expect(await current()).toBe('fr-CA');
  });

  it('writes a setting once, however often its items name it, and not at all where it has the value', async () => {
    const http = service.as(aCaller());
    const items = [...['fr', 'en', 'de'], 'x'.repeat(65_537)].map((value) => ({ name: CULTURE, value }));
    const history = async () => {
      const { body } = await http.get(`/settings/user/${CULTURE}/history`);
      return body.items.map(({ newValue }: { newValue: string }) => newValue);
    };

    const { body } = await http.put('/settings/user', { items });

    expect(body.results.map(({ value }: { value: { value: string } | null }) => value?.value)).toEqual([
      'fr',
      'en',
      'de',
      undefined,
    ]);
    expect(await history()).toEqual(['de']);
    const [first, again] = [
      await http.put(`/settings/user/${CULTURE}`, { value: 'de' }),
      await http.put(`/settings/user/${CULTURE}`, { value: 'de' }),
    ];
    expect([first.status, again.status]).toEqual([204, 204]);
    expect(again.headers.get('etag')).toBe((await http.get(`/settings/user/${CULTURE}`)).headers.get('etag'));
    expect(await history()).toEqual(['de']);
  });

  it('is 422 as a whole for other items under the idempotency key of a batch', async () => {
    const caller = aCaller({ operationId: 'one-operation' });
    const sending = (operationBodyHash: string, name: string, value: string) =>
      service.as({ ...caller, operationBodyHash }).put('/settings/user', { items: [{ name, value }] });
    await sending('first', CULTURE, 'fr');

    expect(await sending('second', ZONE, 'Europe/Paris')).toMatchObject({
      status: 422,
      body: { type: expect.stringContaining('/problems/idempotency-payload-mismatch') },
    });
    expect((await service.as(caller).get(`/settings/user/${ZONE}`)).body.value).not.toBe('Europe/Paris');
    expect((await sending('first', CULTURE, 'fr')).body.successCount).toBe(1);
  });

  it('knows the items of an operation by their names, as replicas of every version do', async () => {
    const caller = aCaller();
    const retried = service.as({ ...caller, operationId: 'one-operation' });
    await retried.put(`/settings/user/${CULTURE}`, { value: 'fr' });
    await service.as(caller).put(`/settings/user/${CULTURE}`, { value: 'en' });

    await retried.put('/settings/user', { items: [{ name: CULTURE, value: 'fr' }] });

    expect((await service.as(caller).get(`/settings/user/${CULTURE}`)).body.value).toBe('en');
  });

  it('sets what can be set and reports the result of each item', async () => {
    const http = service.as(aCaller());
    const response = await http.put('/settings/user', {
      items: [
        { name: CULTURE, value: 'fr' },
        { name: 'Test.Nowhere', value: 'x' },
        { name: ZONE, value: 'Mars/Olympus' },
        { name: 'Test.TenantOnly', value: 'x' },
        { name: CULTURE, value: 'x'.repeat(65_537) },
      ],
    });
    expect(response.status).toBe(207);
    expect(response.body).toMatchObject({ successCount: 1, failureCount: 4 });
    expect(
      response.body.results.map((result: { error: { status: number } | null }) => result.error?.status),
    ).toEqual([undefined, 404, 422, 409, 422]);
    expect((await http.get(`/settings/user/${CULTURE}`)).body.value).toBe('fr');
  });

  it.each([
    [{ items: [] }],
    [{}],
    [{ items: Array.from({ length: 501 }, () => ({ name: CULTURE, value: 'fr' })) }],
  ])('refuses a batch that is empty, missing or too long', async (body) => {
    expect((await service.as(aCaller()).put('/settings/user', body)).status).toBe(422);
  });
});

describe('a lock on a setting', () => {
  it('refuses changes below its level and allows changes at its level', async () => {
    const http = service.as(aCaller());
    await http.put(`/settings/user/${CULTURE}`, { value: 'en' });
    await http.put(`/settings/tenant/${CULTURE}`, { value: 'fr' });
    expect((await http.put(`/settings/tenant/${CULTURE}/lock`)).status).toBe(204);
    expect((await http.put(`/settings/user/${CULTURE}`, { value: 'en-GB' })).status).toBe(409);
    expect((await http.put(`/settings/tenant/${CULTURE}`, { value: 'fr-CA' })).status).toBe(204);
    expect((await http.get('/settings/effective')).body[CULTURE]).toEqual({
      value: 'fr-CA',
      source: 'Tenant',
      locked: true,
      overrides: [],
    });
    expect((await http.delete(`/settings/tenant/${CULTURE}/lock`)).status).toBe(204);
    expect((await http.get(`/settings/user/${CULTURE}`)).body.value).toBe('en');
  });

  it('is possible at tenant and global level only', async () => {
    expect((await service.as(aCaller()).put(`/settings/user/${CULTURE}/lock`)).status).toBe(409);
  });
});

describe('GET /settings/effective', () => {
  it('names the source of a value and what it overrides', async () => {
    const http = service.as(aCaller());
    await http.put(`/settings/tenant/${ZONE}`, { value: 'Europe/Paris' });
    expect((await http.get('/settings/effective')).body[ZONE]).toEqual({
      value: 'Europe/Paris',
      source: 'Tenant',
      locked: false,
      overrides: [{ source: 'Config', value: 'Etc/UTC' }],
    });
  });
});

describe('GET /settings/{scope}/effective', () => {
  it('names the source of a value, what it overrides, and whether it is locked there, for who may read the scope', async () => {
    const http = service.as(aCaller());
    await http.put(`/settings/tenant/${ZONE}`, { value: 'Europe/Paris' });
    await http.put(`/settings/tenant/${ZONE}/lock`);
    const paris = {
      value: 'Europe/Paris',
      source: 'Tenant',
      overrides: [{ source: 'Config', value: 'Etc/UTC' }],
    };
    const at = async (scope: string) => (await http.get(`/settings/${scope}/effective`)).body[ZONE];
    expect(await at('tenant')).toEqual({ ...paris, locked: false, lockedHere: true });
    expect(await at('user')).toEqual({ ...paris, locked: true, lockedHere: false });
    expect((await http.get('/settings/global/effective')).status).toBe(403);
    const stranger = service.as(aCaller({ permissions: [] }));
    expect((await stranger.get('/settings/tenant/effective')).status).toBe(403);
  });
});

describe('GET /settings/definitions', () => {
  it('describes every setting, and to users only those meant for users', async () => {
    const names = (definitions: { name: string }[]) => definitions.map(({ name }) => name);
    const all = (await service.as(aCaller()).get('/settings/definitions')).body;
    expect(names(all)).toEqual(expect.arrayContaining([CULTURE, ZONE, 'Test.Hidden']));
    expect(all[0]).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      defaultValue: null,
      scopes: expect.any(Array),
      isVisibleToUsers: expect.any(Boolean),
      isSecret: expect.any(Boolean),
      schema: expect.any(Object),
    });
    const shown = (await service.as(aCaller({ permissions: [] })).get('/settings/definitions')).body;
    expect(names(shown)).not.toContain('Test.Hidden');
  });
});

describe('GET /settings/{scope}/{name}/history', () => {
  it('lists changes newest first, by page and by cursor', async () => {
    const http = service.as(aCaller());
    for (const value of ['fr', 'en', 'en-GB']) await http.put(`/settings/user/${CULTURE}`, { value });
    const path = `/settings/user/${CULTURE}/history`;
    const page = (await http.get(path)).body;
    expect(page).toMatchObject({ totalCount: 3, hasMore: false });
    expect(page.items.map((item: { newValue: string }) => item.newValue)).toEqual(['en-GB', 'en', 'fr']);

    const first = (await http.get(`${path}?cursor=&pageSize=2`)).body;
    expect(first).toMatchObject({ totalCount: null, hasMore: true });
    const second = (await http.get(`${path}?pageSize=2&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...second.items]).toEqual(page.items);
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
  });

  it('lists changes and their number as they are at one instant, also where a value is set meanwhile', async () => {
    const caller = aCaller();
    const set = (value: string) => service.as(caller).put(`/settings/user/${CULTURE}`, { value });
    await set('fr');
    const db = interruptedDatabase(service.db, 'settingChange.count', () => set('en'));
    const { tenantId, userId } = caller;

    const { rows, totalCount } = await settingStore({
      db,
      box: service.box,
      config: {},
      quota: service.changeQuota,
    }).history(
      { tenantId, scope: 'user', userId },
      CULTURE,
      firstRows('changedAt', true, { wantsTotalCount: true }),
    );

    expect([rows.map(({ newValue }) => newValue), totalCount]).toEqual([['fr'], 1]);
  });

  it('has the newest five hundred changes of a setting, and older ones until some change removes them', async () => {
    const isDue = jest.spyOn(Math, 'random').mockReturnValue(1);
    const caller = aCaller();
    const http = service.as(caller);
    const { tenantId } = caller;
    await http.put(`/settings/user/${CULTURE}`, { value: 'fr' });
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO setting_change (tenant_id, id, scope, user_id, name, kind, previous_value, new_value, changed_at, changed_by)
      SELECT tenant_id, gen_random_uuid(), scope, user_id, name, kind, previous_value, new_value, changed_at - added * interval '1 second', changed_by
      FROM setting_change, generate_series(1, 505) AS added WHERE tenant_id = ${tenantId}::uuid`,
    );

    const history = async () => (await http.get(`/settings/user/${CULTURE}/history?pageSize=2`)).body;

    await http.put(`/settings/user/${CULTURE}`, { value: 'en' });
    expect(await history()).toMatchObject({ totalCount: 507 });

    isDue.mockReturnValue(0);
    await http.put(`/settings/user/${CULTURE}`, { value: 'en-GB' });
    isDue.mockRestore();
    expect(await history()).toMatchObject({
      totalCount: 500,
      items: [{ newValue: 'en-GB' }, { newValue: 'en' }],
    });
  });

  it('responds 400 to a cursor that it did not issue', async () => {
    const http = service.as(aCaller());
    expect((await http.get(`/settings/user/${CULTURE}/history?cursor=AAAA`)).status).toBe(400);
  });
});
