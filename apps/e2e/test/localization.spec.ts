import { request } from 'node:http';
import { startJourney, tenants, type Journey } from './platform';

/** The texts of two tenants and of the platform, requested as browsers and shared caches do. */
const { north, south } = tenants;

let journey: Journey;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  journey = await startJourney();
  for (const { id, name } of [north, south]) {
    tokens[id] = await journey.tokenOf({ tenantId: id });
    await journey.call('PUT', '/localization/overrides/Shop/fr/title', {
      token: tokens[id]!,
      body: { value: name },
    });
  }
});

interface Reading {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
}

/** `fetch` does not allow setting the Host header. */
const read = (path: string, headers: Record<string, string> = {}): Promise<Reading> =>
  new Promise((resolve, reject) => {
    const call = request(journey.url + path, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers as never, text }),
      );
    });
    call.on('error', reject).end();
  });
const titleOf = ({ text }: Reading) => JSON.parse(text).resources.Shop?.title;

/** A shared cache that stores responses by RFC 9111, and distinguishes host names by `Vary` only. */
function sharedCache() {
  const kept: { path: string; headers: Record<string, string>; vary: string[]; reading: Reading }[] = [];
  return async (path: string, headers: Record<string, string>) => {
    const hit = kept.find(
      (one) => one.path === path && one.vary.every((name) => one.headers[name] === headers[name]),
    );
    if (hit) return { reading: hit.reading, isHit: true };
    const reading = await read(path, headers);
    const vary = (reading.headers['vary'] ?? '').toLowerCase().split(/,\s*/);
    if (/\bpublic\b/.test(reading.headers['cache-control'] ?? ''))
      kept.push({ path, headers, vary, reading });
    return { reading, isHit: false };
  };
}

describe('the texts of a tenant', () => {
  it.each([north, south])(
    'are those of the tenant for callers without a token: $shortName',
    async ({ id, shortName, name, hosts }) => {
      expect(titleOf(await read(`/localization?cultureName=fr&tenant=${shortName}`))).toBe(name);
      expect(titleOf(await read(`/localization?cultureName=fr&tenant=${id}`))).toBe(name);
      expect(titleOf(await read('/localization?cultureName=fr', { host: hosts[0]! }))).toBe(name);
      expect(
        titleOf(await read('/localization?cultureName=fr', { authorization: `Bearer ${tokens[id]}` })),
      ).toBe(name);
    },
  );

  it('differ from those of the platform', async () => {
    expect(titleOf(await read('/localization?cultureName=fr'))).toBeUndefined();
    expect(
      titleOf(await read('/localization?cultureName=fr', { 'x-forwarded-host': 'north.test' })),
    ).toBeUndefined();
    expect((await read('/localization?tenant=west')).status).toBe(404);
  });

  it('never reach another tenant through a shared cache', async () => {
    const cached = sharedCache();
    for (const expectHit of [false, true]) {
      for (const { name, shortName, hosts } of [north, south]) {
        const host = hosts[0]!;
        for (const [path, headers] of [
          ['/localization?cultureName=fr', { host }],
          ['/localization', { host, 'accept-language': 'fr' }],
          [`/localization?cultureName=fr&tenant=${shortName}`, { host: 'any.test' }],
        ] as const) {
          const { reading, isHit } = await cached(path, headers);
          expect([titleOf(reading), isHit]).toEqual([name, expectHit]);
        }
      }
    }
  });

  it('are refused to callers of another tenant', async () => {
    const headers = { authorization: `Bearer ${tokens[north.id]}` };
    expect((await read('/localization?tenant=south', headers)).status).toBe(403);
    const foreign = await journey.call('GET', '/localization/overrides/Shop/fr/title', {
      token: tokens[north.id]!,
      headers: { 'x-tenant-id': south.id },
    });
    expect(foreign.status).toBe(403);
  });
});

describe('localization for a signed-in person', () => {
  it('uses the culture of the settings of that person', async () => {
    const token = await journey.tokenOf({ sub: 'amélie', tenantId: north.id, roles: [] });
    const cultureOf = async (query = '') => {
      const headers = { 'accept-language': 'en-GB' };
      return (await journey.call('GET', `/localization${query}`, { token, headers })).body.currentCulture;
    };
    expect(await cultureOf()).toBe('en-GB');

    const setting = '/api/v1/settings/user/Service.Localization.PreferredCulture';
    expect((await journey.call('PUT', setting, { token, body: { value: 'fr-CA' } })).status).toBe(204);
    expect(await cultureOf()).toBe('fr-CA');
    expect(await cultureOf('?cultureName=fr')).toBe('fr');
  });

  it('refuses to change texts without the permission', async () => {
    const token = await journey.tokenOf({ sub: 'amélie', tenantId: north.id, roles: [] });
    const body = { value: 'x' };
    const response = await journey.call('PUT', '/localization/overrides/Shop/fr/title', { token, body });
    expect(response.status).toBe(403);
  });
});
