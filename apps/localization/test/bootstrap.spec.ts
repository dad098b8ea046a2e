import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization();
});
afterAll(() => localization.close());

const anonymous = (tenantId?: string) => localization.as(null, tenantId);
const uncompressed = { headers: { 'accept-encoding': 'identity' } };
const accepting = (language: string) => ({ headers: { 'accept-language': language } });

describe('GET /localization', () => {
  it('returns the texts of a culture, flattened, and the languages to choose from', async () => {
    const { status, body } = await anonymous().get('/localization?cultureName=fr');

    expect(status).toBe(200);
    expect(body).toMatchObject({ currentCulture: 'fr', cultureName: 'fr' });
    expect(body.resources.Workflow['outcomes.Denied']).toBe('Refusé');
    expect(body.resources.Permissions['Workflow.History.Read']).toBe('Lire l’historique des circuits');
    expect(body.languages).toEqual([
      { cultureName: 'fr', displayName: 'Français', flagIcon: 'fr', isDefault: false },
      { cultureName: 'fr-CA', displayName: 'Français (Canada)', flagIcon: 'ca', isDefault: false },
      { cultureName: 'en', displayName: 'English', flagIcon: 'us', isDefault: true },
      { cultureName: 'en-GB', displayName: 'English (United Kingdom)', flagIcon: 'gb', isDefault: false },
    ]);
  });

  it('falls back text by text', async () => {
    const { body } = await anonymous().get('/localization?cultureName=fr-CA');

    expect(body.currentCulture).toBe('fr-CA');
    expect(body.resources.Platform['actions.signIn']).toBe('Ouvrir une session');
    expect(body.resources.Platform['actions.save']).toBe('Enregistrer');
  });

  it('returns only the resources that are named, of those that there are', async () => {
    const caller = aCaller();
    const client = localization.as(caller);
    const shop = { resourceName: 'Shop', cultureName: 'en', value: 'Shop' };
    const items = Array.from({ length: 500 }, (_, index) => ({ ...shop, key: `k${index}` }));
    await client.put('/localization/overrides', { items: items });
    await client.put('/localization/overrides/Workflow/en/outcomes.Denied', { value: 'Not now' });

    const named = await client.get(
      '/localization?cultureName=en&resourceNames=Workflow,Platform,Nowhere,__proto__',
    );

    expect(Object.keys(named.body.resources)).toEqual(['Workflow', 'Platform']);
    expect(named.body.resources.Workflow['outcomes.Denied']).toBe('Not now');
    expect(named.body.languages).toHaveLength(4);
    expect(Object.keys((await client.get('/localization?cultureName=en')).body.resources)).toContain('Shop');
    for (const names of ['', 'Workflow,', 'x'.repeat(129), Array(51).fill('Workflow').join()]) {
      expect((await client.get(`/localization?resourceNames=${names}`)).status).toBe(422);
    }
  });

  it.each([
    ['?cultureName=en-gb', 'de', 'en-GB'],
    ['?cultureName=fr-BE', 'en', 'fr'],
    ['?cultureName=ja', 'fr', 'en'],
    ['', 'fr-BE, en;q=0.5', 'fr'],
    ['', 'ja, en-GB;q=0.2, fr;q=0.1', 'en-GB'],
    ['', 'ja', 'en'],
    ['', '', 'en'],
  ])('%s with Accept-Language "%s" responds in %s', async (query, language, culture) => {
    const { status, body } = await anonymous().get(`/localization${query}`, accepting(language));
    expect([status, body.currentCulture]).toEqual([200, culture]);
  });

  it.each(['', '-', 'e', 'fr_CA', 'fr-', 'en-US-', '../../etc', 'toolongsubtag-x', 'a'.repeat(40), '%FF'])(
    'refuses the malformed culture "%s"',
    async (culture) => {
      const { status, headers } = await anonymous().get(`/localization?cultureName=${culture}`);
      expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    },
  );

  it('is publicly cacheable for an hour without a credential, and varies by what chose the texts', async () => {
    const { headers } = await anonymous().get('/localization');
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
    expect(headers.get('vary')).toBe('Accept-Language, Authorization, Accept-Encoding');
  });

  it('is private with a credential', async () => {
    const { headers } = await localization.as(aCaller({ permissions: [] })).get('/localization');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('vary')).toBe('Accept-Language, Authorization, Accept-Encoding');
  });

  it('varies by host where the host name chose the tenant', async () => {
    const tenantId = newId();
    const byHost = await anonymous(tenantId).get('/localization');
    const byAddress = await anonymous(tenantId).get(`/localization?tenant=${tenantId}`);
    expect(byHost.headers.get('vary')).toBe('Accept-Language, Authorization, Host, Accept-Encoding');
    expect(byAddress.headers.get('vary')).toBe('Accept-Language, Authorization, Accept-Encoding');
  });

  it('responds 304 while nothing changed, with the same headers', async () => {
    const client = anonymous();
    const etag = (await client.get('/localization?cultureName=fr')).headers.get('etag')!;
    expect(etag).toMatch(/^"[^"]+"$/);

    const again = await client.get('/localization?cultureName=fr', { headers: { 'if-none-match': etag } });
    const other = await client.get('/localization?cultureName=fr-CA', { headers: { 'if-none-match': etag } });

    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(again.headers.get('vary')).toBe('Accept-Language, Authorization, Accept-Encoding');
    expect(other.status).toBe(200);
  });

  it('is compressed for who accepts gzip, with a strong tag of its own', async () => {
    const client = anonymous();
    const path = '/localization?cultureName=fr&resourceNames=Workflow,Platform';
    const plain = await client.get(path, uncompressed);
    const compressed = await client.get(path, { headers: { 'accept-encoding': 'br, gzip;q=0.5' } });
    const refused = await client.get(path, { headers: { 'accept-encoding': 'gzip;q=0, br' } });

    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(refused.headers.get('content-encoding')).toBeNull();
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    const length = (response: typeof plain) => Number(response.headers.get('content-length'));
    expect(length(compressed)).toBeLessThan(length(plain) / 2);
    expect(compressed.text).toBe(plain.text);

    for (const [{ headers }, options] of [
      [plain, uncompressed],
      [compressed, { headers: { 'accept-encoding': 'gzip' } }],
    ] as const) {
      const tag = headers.get('etag')!;
      expect(tag).toMatch(/^"[^"]+"$/);
      const known = { headers: { ...options.headers, 'if-none-match': tag } };
      const again = await client.get(path, known);
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    }
    expect(compressed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  });

  it('is compressed again after every change of a text, and for each tenant its own', async () => {
    const [client, other] = [localization.as(aCaller()), localization.as(aCaller())];
    const title = async (one: typeof client) =>
      (await one.get('/localization?cultureName=en&resourceNames=Shop')).body.resources.Shop?.title;
    await client.put('/localization/overrides/Shop/en/title', { value: 'Shop' });
    expect([await title(client), await title(other)]).toEqual(['Shop', undefined]);
    await client.put('/localization/overrides/Shop/en/title', { value: 'Store' });
    expect([await title(client), await title(other)]).toEqual(['Store', undefined]);
  });

  it('has another entity tag after every change of a text, and the former tag with the former text', async () => {
    const caller = aCaller();
    const client = localization.as(caller);
    const tag = async () => (await client.get('/localization?cultureName=en')).headers.get('etag');
    const before = await tag();

    await client.put('/localization/overrides/Shop/en/title', { value: 'Shop' });
    const changed = await tag();
    await client.delete('/localization/overrides/Shop/en/title');

    expect(changed).not.toBe(before);
    expect(await tag()).toBe(before);
  });

  it("serves a culture outside the platform's list where the tenant has texts in it", async () => {
    const caller = aCaller();
    const client = localization.as(caller);
    await client.put('/localization/overrides/Workflow/de/outcomes.Denied', { value: 'Abgelehnt' });

    const { body } = await client.get('/localization', accepting('de-AT, fr;q=0.5'));

    expect(body.currentCulture).toBe('de');
    expect(body.resources.Workflow['outcomes.Denied']).toBe('Abgelehnt');
    expect(body.resources.Workflow['outcomes.Completed']).toBe('Completed');
    expect(body.languages.map(({ cultureName }: { cultureName: string }) => cultureName)).not.toContain('de');
    expect((await anonymous().get('/localization?cultureName=de')).body.currentCulture).toBe('en');
  });
});
