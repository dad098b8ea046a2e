import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeAll, echo, startGateway, startUpstream, type ReceivedRequest } from './start-gateway';

afterEach(closeAll);

const DEMO = '01900000-0000-7000-8000-00000000d301';
const REDIRECT = 'http://localhost:8080/console/signed-in';

interface Mapper {
  protocolMapper: string;
  config: Record<string, string>;
}
interface Client {
  clientId: string;
  secret?: string;
  redirectUris?: string[];
  protocolMappers?: Mapper[];
}

const file = join(__dirname, '../../../tools/development/keycloak/plinth-realm.json');
const realm = JSON.parse(readFileSync(file, 'utf8')) as {
  roles: { realm: { name: string }[] };
  clients: Client[];
  components: Record<string, { config: Record<string, string[]> }[]>;
};
const clientOf = (id: string): Client => realm.clients.find(({ clientId }) => clientId === id)!;

describe('the realm for Keycloak', () => {
  it.each(['plinth-console', 'nightly-import'])('gives the tokens of %s audience and tenant', (id) => {
    const claims = clientOf(id).protocolMappers!.map(({ config }) => config['claim.name']);
    const audience = clientOf(id).protocolMappers!.map(({ config }) => config['included.client.audience']);

    expect(claims).toEqual(expect.arrayContaining(['tenant_id', 'tenants']));
    expect(audience).toContain('plinth');
  });

  it('lets only administrators see and change the tenants of a person', () => {
    const [profile] = realm.components['org.keycloak.userprofile.UserProfileProvider']!;
    const { attributes } = JSON.parse(profile!.config['kc.user.profile.config']![0]!) as {
      attributes: { name: string; permissions: object }[];
    };
    for (const name of ['tenant_id', 'tenants']) {
      const { permissions } = attributes.find((attribute) => attribute.name === name)!;
      expect(permissions).toEqual({ view: ['admin'], edit: ['admin'] });
    }
  });

  it('has every role of the platform', () => {
    expect(realm.roles.realm.map(({ name }) => name)).toEqual(['admin', 'publisher', 'editor', 'viewer']);
  });
});

/** A Keycloak into which the realm was imported; the specs of the suite do not bring one. */
const keycloak = process.env['KEYCLOAK_URL'];

(keycloak === undefined ? describe.skip : describe)('a Keycloak with this realm', () => {
  const issuer = `${keycloak}/realms/plinth`;

  async function startPlatform() {
    const received: ReceivedRequest[] = [];
    const gateway = await startGateway(
      { things: await startUpstream(echo(received)) },
      {
        DEV_ISSUER: 'false',
        OIDC_ISSUER: issuer,
        OIDC_JWKS_URL: `${issuer}/protocol/openid-connect/certs`,
        OIDC_CLAIMS: '{"roles": ["realm_access.roles", "resource_access.plinth.roles"]}',
      },
    );
    const send = (token: string) =>
      gateway.fetch('/api/v1/things/one', { headers: { authorization: `Bearer ${token}` } });
    return { received, send };
  }

  async function tokenOf(form: Record<string, string>): Promise<Record<string, string>> {
    const body = new URLSearchParams(form);
    const response = await fetch(`${issuer}/protocol/openid-connect/token`, { method: 'POST', body });
    const tokens = (await response.json()) as Record<string, string>;
    if (!tokens['access_token']) throw new Error(JSON.stringify(tokens));
    return tokens;
  }

  /** Signs a person in as the console does, through the pages of Keycloak. */
  async function signIn(username: string): Promise<Record<string, string>> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: 'plinth-console',
      response_type: 'code',
      scope: 'openid profile',
      redirect_uri: REDIRECT,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const page = await fetch(`${issuer}/protocol/openid-connect/auth?${query}`);
    const cookie = page.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
    const action = /<form[^>]* action="([^"]+)"/.exec(await page.text())![1]!.replaceAll('&amp;', '&');
    const back = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: cookie.join('; ') },
      body: new URLSearchParams({ username, password: 'development' }),
    });
    return tokenOf({
      grant_type: 'authorization_code',
      client_id: 'plinth-console',
      code: new URL(back.headers.get('location')!).searchParams.get('code') ?? '',
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    });
  }

  it.each([
    ['ada', 'Ada Lovelace', ['*']],
    ['vera', 'Vera Rubin', expect.arrayContaining(['Templating.Templates.Read'])],
  ])('signs %s in with name, tenant and roles', async (person, userName, permissions) => {
    const { received, send } = await startPlatform();
    const { access_token } = await signIn(person);

    expect((await send(access_token!)).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({ userName, tenantId: DEMO, permissions });
  });

  it('signs a program in by its secret, with the roles of the client', async () => {
    const { received, send } = await startPlatform();
    const { access_token } = await tokenOf({
      grant_type: 'client_credentials',
      client_id: 'nightly-import',
      client_secret: clientOf('nightly-import').secret!,
    });

    expect((await send(access_token!)).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({
      userName: 'service-account-nightly-import',
      tenantId: DEMO,
      permissions: expect.arrayContaining(['DataExchange.Imports.Execute']),
    });
  });

  it('gives out ID tokens that are no credentials', async () => {
    const { send } = await startPlatform();
    const { id_token } = await signIn('ada');

    const response = await send(id_token!);

    expect(await response.json()).toMatchObject({ status: 401, detail: expect.stringContaining('ID token') });
  });

  it('ends its session when the console signs out, and sends people back there', async () => {
    const { id_token } = await signIn('ada');
    const query = new URLSearchParams({
      client_id: 'plinth-console',
      id_token_hint: id_token!,
      post_logout_redirect_uri: 'http://localhost:8080/console',
    });

    const response = await fetch(`${issuer}/protocol/openid-connect/logout?${query}`, { redirect: 'manual' });

    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('http://localhost:8080/console');
  });

  it('does not let people choose their tenant', async () => {
    const { access_token } = await signIn('vera');
    const headers = { authorization: `Bearer ${access_token}`, accept: 'application/json' };
    const account = `${issuer}/account`;
    const mine = (await (await fetch(account, { headers })).json()) as {
      username: string;
      attributes?: object;
    };
    expect(mine.username).toBe('vera');
    const other = { ...mine, attributes: { ...mine.attributes, tenant_id: [DEMO.replace('d301', 'ffff')] } };

    await fetch(account, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(other),
    });

    const { received, send } = await startPlatform();
    await send((await signIn('vera')).access_token!);
    expect(received[0]!.claims.caller).toMatchObject({ tenantId: DEMO });
  });
});
