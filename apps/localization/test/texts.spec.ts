import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization();
});
afterAll(() => localization.close());

const texts = (caller: ReturnType<typeof aCaller>, query: string) =>
  localization.as(caller).get(`/localization/texts?${query}`);
const put = (caller: ReturnType<typeof aCaller>, items: object[]) =>
  localization.as(caller).put('/localization/overrides', { items });
const item = (key: string, value: string, parts: object = {}) => ({
  resourceName: 'Platform',
  cultureName: 'fr',
  key,
  value,
  ...parts,
});
const keys = ({ body }: { body: { items: { key: string }[] } }) => body.items.map(({ key }) => key);

describe('GET /localization/texts', () => {
  it('says what the platform says in each culture, where that comes from, and what the tenant says instead', async () => {
    const caller = aCaller();
    await put(caller, [item('actions.save', 'Garder')]);
    const { body } = await texts(caller, 'cultures=fr,fr-CA&resourceName=Platform&search=actions.save');
    expect(body).toEqual({
      items: [
        {
          resourceName: 'Platform',
          key: 'actions.save',
          values: [
            {
              cultureName: 'fr',
              platformValue: 'Enregistrer',
              platformCulture: 'fr',
              value: 'Garder',
              replacedValue: 'Enregistrer',
              hasDrifted: false,
            },
            expect.objectContaining({ cultureName: 'fr-CA', platformCulture: 'fr', value: null }),
          ],
        },
      ],
      totalCount: 1,
      hasMore: false,
    });
    expect((await texts(aCaller(), 'show=overridden')).body.items).toEqual([]);
    expect((await texts(aCaller({ permissions: [] }), 'show=all')).status).toBe(403);
  });

  it('is compressed for who accepts gzip', async () => {
    const client = localization.as(aCaller());
    const path = '/localization/texts?resourceName=Platform';
    const [plain, compressed] = await Promise.all(
      ['identity', 'gzip'].map((encoding) => client.get(path, { headers: { 'accept-encoding': encoding } })),
    );
    expect(plain!.headers.get('content-encoding')).toBeNull();
    expect(compressed!.headers.get('content-encoding')).toBe('gzip');
    expect(compressed!.headers.get('vary')).toBe('Accept-Encoding');
    const [plainLength, length] = [plain, compressed].map((one) =>
      Number(one!.headers.get('content-length')),
    );
    expect(length).toBeLessThan(plainLength! / 4);
    expect(compressed!.body).toEqual(plain!.body);
  });

  it('lists the texts of the platform and those that only the tenant has, page by page in one order', async () => {
    const caller = aCaller();
    const own = Array.from({ length: 150 }, (_, index) =>
      item(`k${String(index).padStart(3, '0')}`, `Text ${index}`, { resourceName: 'Shop' }),
    );
    await put(caller, own);
    const all = (await texts(caller, 'pageSize=1')).body.totalCount;
    expect(all).toBe((await texts(aCaller(), 'pageSize=1')).body.totalCount + 150);
    const second = await texts(caller, 'resourceName=Shop&pageSize=100&page=2');
    expect(keys(second)).toEqual(own.slice(100).map(({ key }) => key));
    const withoutTotal = await texts(caller, 'resourceName=Shop&pageSize=100&page=2&skipTotalCount=true');
    expect([keys(withoutTotal), withoutTotal.body.totalCount]).toEqual([keys(second), null]);
    expect(keys(await texts(caller, 'search=text 149'))).toEqual(['k149']);
  });

  it('finds the same texts of the platform and of the tenant without a total as with it, page by page', async () => {
    const caller = aCaller();
    // Among those of the platform, before and behind them, and one of them.
    const own = [...'aSz'].map((letter) => item(`${letter}.save`, 'Garder', { resourceName: 'Platform' }));
    await put(caller, [
      ...own,
      item('actions.save', 'Garder'),
      item('other', 'Save', { resourceName: 'A' }),
      item('a.other', 'Rien'),
    ]);
    const { totalCount } = (await texts(caller, 'search=save&pageSize=1')).body;
    const pageSize = Math.ceil(totalCount / 2);
    expect(totalCount).toBeGreaterThan(own.length + 2);
    for (const page of [1, 2]) {
      const query = `search=save&pageSize=${pageSize}&page=${page}`;
      const [counted, uncounted] = [
        await texts(caller, query),
        await texts(caller, `${query}&skipTotalCount=true`),
      ];
      expect(uncounted.body).toEqual({ ...counted.body, totalCount: null });
      expect(uncounted.body.hasMore).toBe(page === 1);
    }
  });

  it('finds keys and texts whatever the case of their letters, also of those with accents', async () => {
    const caller = aCaller();
    await put(caller, [item('Été', 'Soleil'), item('autumn', 'À la RENTRÉE')]);
    expect(keys(await texts(caller, 'search=ÉTÉ&show=overridden'))).toEqual(['Été']);
    expect(keys(await texts(caller, 'search=à la rentrée'))).toEqual(['autumn']);
  });

  it('knows so many cultures of a tenant and no more, however many it makes up', async () => {
    const caller = aCaller();
    await put(caller, [item('first', 'Premier', { resourceName: 'A', cultureName: 'de' })]);
    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    await client.query(
      `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, replaced_value, modified_by)
       SELECT $1, gen_random_uuid(), 'A', 'en-x-a' || lpad(number::text, 4, '0'), 'first', 'First', 'y', 'ada'
       FROM generate_series(1, 1001) AS number`,
      [caller.tenantId],
    );
    await client.query('UPDATE override_mark SET id = gen_random_uuid() WHERE tenant_id = $1', [
      caller.tenantId,
    ]);
    await client.end();

    const cultureOf = async (name: string) =>
      (await localization.as(caller).get(`/localization?cultureName=${name}`)).body.currentCulture;
    expect(await cultureOf('de')).toBe('de');
    expect(await cultureOf('en-x-a0999')).toBe('en-x-a0999');
    expect(await cultureOf('en-x-a1000')).toBe('en');
  });

  it('holds so many characters of a tenant at once and no more, however many it has', async () => {
    const caller = aCaller();
    await put(caller, [item('first', 'Premier', { resourceName: 'A' })]);
    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    await client.query(
      `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, replaced_value, modified_by)
       SELECT $1, gen_random_uuid(), 'B', 'fr', 'k' || lpad(number::text, 4, '0'), repeat('x', 3995), 'y', 'ada'
       FROM generate_series(1, 1100) AS number`,
      [caller.tenantId],
    );
    await client.query('UPDATE override_mark SET id = gen_random_uuid() WHERE tenant_id = $1', [
      caller.tenantId,
    ]);
    await client.end();

    const http = localization.as(caller);
    const {
      body: { resources },
      headers,
    } = await http.get('/localization?cultureName=fr');
    expect(headers.get('x-localization-incomplete')).toBe('true');
    expect([resources.A, Object.keys(resources.B).length]).toEqual([{ first: 'Premier' }, 999]);
    expect(resources.Platform['actions.save']).toBe('Enregistrer');
    const list = await http.get('/localization/overrides?resourceName=B&cultureName=fr');
    expect([list.status, list.body.detail]).toEqual([413, expect.stringContaining('4000000 characters')]);
    expect((await http.get('/localization/overrides?resourceName=A&cultureName=fr')).body).toEqual({
      first: 'Premier',
    });
    expect((await texts(caller, 'show=drifted&pageSize=1')).body.totalCount).toBe(1_100);
    for (const complete of [
      await texts(caller, 'show=drifted&pageSize=1'),
      await http.get('/localization?cultureName=en'),
      await texts(caller, 'pageSize=1'),
      await texts(aCaller(), 'show=drifted'),
    ])
      expect(complete.headers.get('x-localization-incomplete')).toBeNull();
  });

  it('holds so many texts of a tenant at once and no more, however short they are', async () => {
    const caller = aCaller();
    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    await client.query(
      `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, replaced_value, modified_by)
       SELECT $1, gen_random_uuid(), 'B', 'fr', lpad(number::text, 6, '0'), '', 'y', 'ada'
       FROM generate_series(1, 100001) AS number`,
      [caller.tenantId],
    );
    await client.end();

    const http = localization.as(caller);
    const { body, headers } = await http.get('/localization?cultureName=fr&resourceNames=B');
    expect(headers.get('x-localization-incomplete')).toBe('true');
    expect(Object.keys(body.resources.B)).toHaveLength(100_000);
    const list = await http.get('/localization/overrides?resourceName=B&cultureName=fr');
    expect([list.status, list.body.detail]).toEqual([413, expect.stringContaining('100000 texts')]);
    const drifted = await texts(caller, 'show=drifted&pageSize=1');
    expect([drifted.body.totalCount, drifted.headers.get('x-localization-incomplete')]).toEqual([
      100_001,
      'true',
    ]);
    const none = await texts(caller, 'show=drifted&search=nowhere');
    expect([none.body.items, none.headers.get('x-localization-incomplete')]).toEqual([[], 'true']);
  });

  it('finds the overrides whose original changed since', async () => {
    const caller = aCaller();
    await put(caller, [item('actions.save', 'Garder'), item('actions.edit', 'Changer')]);
    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    await client.query(
      "UPDATE override SET replaced_value = 'Sauver' WHERE tenant_id = $1 AND key = 'actions.save'",
      [caller.tenantId],
    );
    await client.end();
    const drifted = await texts(caller, 'show=drifted&cultures=fr');
    expect(keys(drifted)).toEqual(['actions.save']);
    expect(drifted.body.items[0].values[0]).toMatchObject({ replacedValue: 'Sauver', hasDrifted: true });
    await put(caller, [item('actions.save', 'Garder')]);
    expect(keys(await texts(caller, 'show=drifted'))).toEqual([]);
  });

  it('compares each override with the text that its culture falls back to', async () => {
    const caller = aCaller();
    const cultures = 'fr,fr-CA,fr-CA-x-quebec,fr-BE,frr,en,en-GB-oxendict,en-x-a-b,en-u-nu-latn,de'.split(
      ',',
    );
    const written = cultures.flatMap((cultureName) => [
      item('actions.save', 'x', { cultureName }),
      item('common.no', 'x', { resourceName: 'Console', cultureName }),
      item('of.the.tenant', 'x', { cultureName }),
    ]);
    const { body } = await put(caller, written);
    expect(body.results.every(({ error }: { error: unknown }) => error === null)).toBe(true);
    expect(keys(await texts(caller, 'show=drifted'))).toEqual([]);

    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    await client.query("UPDATE override SET replaced_value = replaced_value || '.' WHERE tenant_id = $1", [
      caller.tenantId,
    ]);
    for (const cultureName of cultures) {
      await client.query('UPDATE override SET value = $3 WHERE tenant_id = $1 AND culture_name = $2', [
        caller.tenantId,
        cultureName,
        `in ${cultureName}.`,
      ]);
      const drifted = await texts(caller, `show=drifted&search=IN ${cultureName}.&cultures=${cultureName}`);
      expect(keys(drifted)).toContain('actions.save');
      expect(keys(drifted)).not.toContain('of.the.tenant');
      expect(drifted.body.items.map((one: { values: object[] }) => one.values[0])).toEqual(
        drifted.body.items.map(() => expect.objectContaining({ hasDrifted: true })),
      );
    }
    await client.end();
    const named = await texts(caller, 'show=drifted&resourceName=Platform&sort=-resourceName');
    expect([keys(named), named.body.totalCount]).toEqual([['actions.save'], 1]);
  });
});

describe('POST /localization/overrides/removals', () => {
  const remove = (caller: ReturnType<typeof aCaller>, items: object[]) =>
    localization.as(caller).post('/localization/overrides/removals', { items });
  const named = (key: string, cultureName = 'fr') => ({ resourceName: 'Platform', cultureName, key });

  it('removes overrides, so that the texts of the platform are seen again', async () => {
    const caller = aCaller();
    await put(caller, [item('actions.save', 'Garder'), item('actions.edit', 'Changer')]);
    expect((await remove(caller, [named('actions.save', 'FR'), named('never.there')])).status).toBe(204);
    expect(keys(await texts(caller, 'show=overridden'))).toEqual(['actions.edit']);
  });

  it('removes none where one of them has no key, and needs the permission', async () => {
    const caller = aCaller();
    await put(caller, [item('actions.save', 'Garder')]);
    expect((await remove(caller, [named('actions.save'), named('')])).status).toBe(422);
    expect((await remove(aCaller({ ...caller, permissions: [] }), [named('actions.save')])).status).toBe(403);
    expect(keys(await texts(caller, 'show=overridden'))).toEqual(['actions.save']);
  });
});
