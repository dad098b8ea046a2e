import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { startLocalization, type Localization } from './start-localization';

let localization: Localization;
beforeAll(async () => {
  localization = await startLocalization();
});
afterAll(() => localization.close());

const address = '/localization/overrides/Shop/en/title';

/** A shared cache that does what headers allow and no more (RFC 9111): the key is the URL and what `Vary` names. */
function sharedCache(
  fetchFrom: (path: string, headers: Record<string, string>, tenantId: string) => ReturnType<typeof ask>,
) {
  const cached = new Map<string, { vary: string[]; headers: Record<string, string>; text: string }[]>();
  return async (host: string, path: string, headers: Record<string, string>, tenantId: string) => {
    const request: Record<string, string> = { ...headers, host };
    // Two host names behind one cache that ignores the host: the worst that is allowed.
    const hit = (cached.get(path) ?? []).find(({ vary, headers: former }) =>
      vary.every((name) => (former[name] ?? '') === (request[name] ?? '')),
    );
    if (hit) return { text: hit.text, fromCache: true };
    const response = await fetchFrom(path, headers, tenantId);
    if (/\bpublic\b/.test(response.headers.get('cache-control')!)) {
      const vary = response.headers.get('vary')!.toLowerCase().split(', ');
      cached.set(path, [...(cached.get(path) ?? []), { vary, headers: request, text: response.text }]);
    }
    return { text: response.text, fromCache: false };
  };
}
const ask = (path: string, headers: Record<string, string>, tenantId: string) =>
  localization.as(null, tenantId).get(path, { headers });

describe('two tenants of the localization service', () => {
  it('never share overrides, texts or counts', async () => {
    const [ada, bob] = [localization.as(aCaller()), localization.as(aCaller())];
    await ada.put(address, { value: 'Ada' });
    await bob.put(address, { value: 'Bob' });
    const etag = (await ada.get(address)).headers.get('etag')!;

    expect((await ada.get('/localization?cultureName=en')).body.resources.Shop).toEqual({ title: 'Ada' });
    expect((await bob.get('/localization?cultureName=en')).body.resources.Shop).toEqual({ title: 'Bob' });
    expect((await bob.delete(address, { headers: { 'if-match': etag } })).status).toBe(409);
    await bob.delete(address);
    expect((await ada.get(address)).body.value).toBe('Ada');
    expect((await bob.get(address)).status).toBe(404);
  });

  it('are separated by the database even where a query does not name the tenant', async () => {
    const ada = aCaller();
    await localization.as(ada).put(address, { value: 'Ada' });
    const seenBy = (tenantId: string) =>
      localization.db!.inTenant(tenantId, (tx) => tx.override.count({ where: {} }));
    expect(await seenBy(ada.tenantId)).toBe(1);
    expect(await seenBy(newId())).toBe(0);

    const client = new Client({ connectionString: localization.databaseUrl });
    await client.connect();
    expect((await client.query('SELECT * FROM override')).rows).toEqual([]);
    await expect(
      client.query("INSERT INTO override VALUES ($1, $1, 'r', 'en', 'k', 'v')", [ada.tenantId]),
    ).rejects.toThrow();
    await client.end();
  });

  it('have row-level security forced on every table', async () => {
    const client = new Client({ connectionString: localization.database!.adminUrl });
    await client.connect();
    const { rows } = await client.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> '_prisma_migrations' AND NOT (relrowsecurity AND relforcerowsecurity)`,
    );
    await client.end();
    expect(rows).toEqual([]);
  });

  it('never see each other through a shared cache, whether address, host name or credential chose them', async () => {
    const cache = sharedCache(ask);
    const tenants = await Promise.all(
      ['Ada', 'Bob'].map(async (name) => {
        const caller = aCaller();
        await localization.as(caller).put(address, { value: name });
        return { name, tenantId: caller.tenantId, host: `${name.toLowerCase()}.example.org` };
      }),
    );
    for (let round = 0; round < 3; round++) {
      for (const { name, tenantId, host } of tenants) {
        for (const language of ['en', 'fr']) {
          const headers = { 'accept-language': language };
          const byHost = await cache(host, '/localization', headers, tenantId);
          const byAddress = await cache('localhost', `/localization?tenant=${tenantId}`, headers, tenantId);
          expect(JSON.parse(byHost.text).resources.Shop).toEqual({ title: name });
          expect(JSON.parse(byAddress.text)).toMatchObject({
            currentCulture: language,
            resources: { Shop: { title: name } },
          });
          expect([byHost.fromCache, byAddress.fromCache]).toEqual([round > 0, round > 0]);
        }
      }
    }
  });
});
