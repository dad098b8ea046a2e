import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT, type JWK } from 'jose';
import { Credentials } from '../src/identity/credential';
import { remoteKeys } from '../src/identity/jwks';
import {
  closeAll,
  echo,
  HOST_TENANT_ID,
  OTHER_TENANT_ID,
  startGateway,
  startUpstream,
  TENANT_ID,
  type ReceivedRequest,
} from './start-gateway';

afterEach(closeAll);

const ISSUER = 'https://id.example/realms/plinth';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = async (key: KeyObject, kid: string): Promise<JWK> => ({
  ...(await exportJWK(key)),
  kid,
  alg: 'RS256',
  use: 'sig',
});
const seconds = (): number => Math.floor(Date.now() / 1000);

interface Made {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: KeyObject;
}

const token = ({ claims = {}, header = {}, key = rsa.privateKey }: Made = {}): Promise<string> =>
  new SignJWT({
    iss: ISSUER,
    aud: 'plinth',
    sub: 'ada',
    tenant_id: TENANT_ID,
    exp: seconds() + 300,
    ...claims,
  })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
    .sign(key);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A gateway that trusts an identity provider of the test's own. */
async function start(environment: Record<string, string> = {}) {
  const received: ReceivedRequest[] = [];
  let fetches = 0;
  const keys = [await jwk(rsa.publicKey, 'k1')];
  const provider = await startUpstream((_request, response) => {
    fetches += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  const gateway = await startGateway(
    { things: await startUpstream(echo(received)) },
    {
      OIDC_ISSUER: ISSUER,
      OIDC_JWKS_URL: `${provider}/keys`,
      ROLE_PERMISSIONS: '{"reader":["Templating.Templates.Read"]}',
      ...environment,
    },
  );
  const send = (bearer: string) =>
    gateway.fetch('/api/v1/things', { headers: { authorization: `Bearer ${bearer}` } });
  return { ...gateway, received, keys, send, fetches: () => fetches };
}

describe('a bearer token', () => {
  it('determines the user, the tenant and the permissions of the caller', async () => {
    const { send, received } = await start();
    const claims = {
      name: 'Ada',
      tenant_id: TENANT_ID,
      roles: ['reader'],
      realm_access: { roles: ['unknown'] },
      permissions: ['Workflow.History.Read'],
    };
    const exp = seconds() + 100;
    expect((await send(await token({ claims: { ...claims, exp } }))).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({
      credentialExpiresAt: exp * 1000,
      userId: 'ada',
      userName: 'Ada',
      tenantId: TENANT_ID,
      permissions: ['Templating.Templates.Read', 'Workflow.History.Read'],
    });
    const host = { tenant_id: HOST_TENANT_ID, realm_access: { roles: ['admin'] } };
    expect((await send(await token({ claims: host }))).status).toBe(200);
    expect(received[1]!.claims.caller).toMatchObject({
      tenantId: HOST_TENANT_ID,
      userName: 'ada',
      permissions: ['*'],
    });
  });

  it.each<[string, Made]>([
    ['expired', { claims: { exp: seconds() - 70 } }],
    ['without an expiry', { claims: { exp: undefined } }],
    ['not good yet', { claims: { nbf: seconds() + 70 } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['without an issuer', { claims: { iss: undefined } }],
    ['for another audience', { claims: { aud: 'other' } }],
    ['without an audience', { claims: { aud: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
    ['with a subject that cannot be stored', { claims: { sub: 'a\0b' } }],
    ['with a tenant that is no UUID', { claims: { tenant_id: 'acme' } }],
    ['without a tenant', { claims: { tenant_id: undefined } }],
    ['that is an ID token', { claims: { typ: 'ID' } }],
    ['with roles that are no list', { claims: { roles: 'admin' } }],
    ['of an unknown key', { header: { kid: 'k2' } }],
    ['of another key', { key: other.privateKey }],
    ['with a path for a key id', { header: { kid: '../../dev/null' }, key: other.privateKey }],
    ['with its own key', { header: { jwk: { kty: 'oct', k: 'YQ' } }, key: other.privateKey }],
    [
      'with the address of its own keys',
      { header: { jku: 'http://127.0.0.1:1/keys', x5u: 'http://127.0.0.1:1/x' }, key: other.privateKey },
    ],
  ])('is refused with 401: %s', async (_what, made) => {
    const { send, received } = await start();
    const response = await send(await token(made));
    expect([response.status, response.headers.get('content-type')]).toEqual([
      401,
      'application/problem+json',
    ]);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(received).toEqual([]);
  });

  it('without a tenant belongs to the default tenant of an installation that has one', async () => {
    const { send, received } = await start({ OIDC_DEFAULT_TENANT: OTHER_TENANT_ID });
    expect((await send(await token({ claims: { tenant_id: undefined } }))).status).toBe(200);
    expect((await send(await token())).status).toBe(200);
    expect(received.map(({ claims }) => claims.tenantId)).toEqual([OTHER_TENANT_ID, TENANT_ID]);
  });

  it('is refused with 401, never 500, when it is forged or broken', async () => {
    const { fetch } = await start();
    const payload = encode({
      iss: ISSUER,
      aud: 'plinth',
      sub: 'ada',
      tenant_id: TENANT_ID,
      exp: seconds() + 300,
      roles: ['admin'],
    });
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const signedWith = (header: object, key: string | Buffer) => {
      const input = `${encode(header)}.${payload}`;
      return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
    };
    const good = await token();
    const forged = [
      ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => [
        `${encode({ alg })}.${payload}.`,
        `${encode({ alg })}.${payload}.${good.split('.')[2]}`,
      ]),
      ...['HS256', 'HS384', 'HS512'].map((alg) => signedWith({ alg, kid: 'k1' }, pem)),
      signedWith({ alg: 'RS256', kid: 'k1' }, pem),
      signedWith({ alg: 'HS256', kid: '/dev/null' }, ''),
      await token({ header: { crit: ['unknown'], unknown: true } }).catch(
        () => `${encode({ alg: 'RS256', kid: 'k1', crit: ['x'], x: 1 })}.${payload}.AAAA`,
      ),
      `${good.split('.')[0]}.${payload}.${good.split('.')[2]}`,
      good.slice(0, -6),
      `${good}.x`,
      good.replaceAll('.', ''),
      '..',
      '.',
      'x',
      `${encode({ alg: 'RSA-OAEP', enc: 'A256GCM', cty: 'JWT' })}.a.b.c.d`,
      'é',
      `${good} ${good}`,
      'x'.repeat(12_001),
      ...Array.from(
        { length: 200 },
        (_, index) =>
          good.slice(0, (index * 7) % good.length) + '-' + good.slice(((index * 7) % good.length) + 1),
      ).filter((text) => text !== good),
    ];
    for (const bearer of forged) {
      const headers = { authorization: Buffer.from(`Bearer ${bearer}`).toString('latin1') };
      expect([bearer, (await fetch('/api/v1/things', { headers })).status]).toEqual([bearer, 401]);
    }
    for (const authorization of [
      'Basic YTpi',
      'Bearer',
      'Bearer ',
      good,
      `Token ${good}`,
      `Bearer,${good}`,
    ]) {
      expect((await fetch('/api/v1/things', { headers: { authorization } })).status).toBe(401);
    }
    expect((await fetch('/api/v1/things', { headers: { authorization: `bearer ${good}` } })).status).toBe(
      200,
    );
  });

  it('is refused, not ignored, where a credential is optional', async () => {
    const { fetch } = await start();
    expect((await fetch('/greeting', { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    expect((await fetch('/api/v1/news', { headers: { authorization: 'Bearer x' } })).status).toBe(200);
  });

  it('is accepted until its expiry plus a tolerance of 60 s, also when it was verified before', async () => {
    let now = new Date('2026-11-21T12:00:00Z');
    const clock = { now: () => now };
    const keys = remoteKeys(async () => ({ keys: [await jwk(rsa.publicKey, 'k1')] }), clock);
    const credentials = new Credentials([{ issuer: ISSUER, audience: 'plinth', keys }], {}, clock);
    const exp = now.getTime() / 1000 + 100;
    const bearer = [`Bearer ${await token({ claims: { exp } })}`];
    const statusAt = async (after: number) => {
      now = new Date((exp + after) * 1000);
      return Promise.resolve(credentials.identify(bearer)).then(
        () => 200,
        () => 401,
      );
    };
    expect([await statusAt(-50), await statusAt(0), await statusAt(59), await statusAt(61)]).toEqual([
      200, 200, 200, 401,
    ]);
  });
});

describe('the keys of the identity provider', () => {
  const withProvider = (fetchKeys: () => Promise<{ keys: JWK[] }>) => {
    let now = 1_795_000_000_000;
    let fetches = 0;
    const keys = remoteKeys(
      () => {
        fetches += 1;
        return fetchKeys();
      },
      { now: () => new Date(now) },
    );
    const find = async (kid: string) => keys({ alg: 'RS256', kid }, { payload: '', signature: '' });
    return { find, pass: (afterSeconds: number) => (now += afterSeconds * 1000), fetches: () => fetches };
  };

  it('can change without a restart of the gateway', async () => {
    const set = [await jwk(rsa.publicKey, 'k1')];
    const provider = withProvider(async () => ({ keys: [...set] }));
    await provider.find('k1');
    set.push(await jwk(other.publicKey, 'k2'));
    await expect(provider.find('k2')).rejects.toThrow('no applicable key');
    provider.pass(31);
    await provider.find('k2');
    await provider.find('k1');
  });

  it('are not fetched again for every unknown key id', async () => {
    const provider = withProvider(async () => ({ keys: [await jwk(rsa.publicKey, 'k1')] }));
    for (let count = 0; count < 1_000; count++) await provider.find(`random-${count}`).catch(() => undefined);
    expect(provider.fetches()).toBe(1);
    provider.pass(31);
    for (let count = 0; count < 1_000; count++) await provider.find(`other-${count}`).catch(() => undefined);
    expect(provider.fetches()).toBe(2);
  });

  it('are used for ten minutes while the provider is unavailable; after that tokens get 502', async () => {
    let isAway = false;
    const provider = withProvider(async () => {
      if (isAway) throw new Error('away');
      return { keys: [await jwk(rsa.publicKey, 'k1')] };
    });
    await provider.find('k1');
    isAway = true;
    provider.pass(599);
    await provider.find('k1');
    provider.pass(2);
    await expect(provider.find('k1')).rejects.toMatchObject({ kind: 'upstream' });
    await expect(provider.find('k1')).rejects.toMatchObject({ kind: 'upstream' });
    isAway = false;
    provider.pass(2);
    await provider.find('k1');
  });

  it('that were never fetched make tokens get 502, not 401', async () => {
    const { fetch } = await startGateway(
      {},
      { OIDC_ISSUER: ISSUER, OIDC_JWKS_URL: 'http://127.0.0.1:1/keys' },
    );
    const response = await fetch('/api/v1/things', { headers: { authorization: `Bearer ${await token()}` } });
    expect([response.status, response.headers.has('retry-after')]).toEqual([502, true]);
  });
});

describe('POST /dev/token', () => {
  it('issues tokens to every client, and publishes the key that verifies them', async () => {
    const { url, fetch } = await start();
    const body = JSON.stringify({ sub: 'ada', name: 'Ada', tenantId: TENANT_ID, roles: ['admin'] });
    const response = await globalThis.fetch(`${url}/dev/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await response.json()).toEqual({
      accessToken: expect.any(String),
      tokenType: 'Bearer',
      expiresIn: 43_200,
    });
    expect(await (await fetch('/dev/jwks', { as: null })).json()).toMatchObject({
      keys: [{ kty: 'EC', crv: 'P-256' }],
    });
    expect(await (await fetch('/dev/jwks', { as: null })).text()).not.toContain('"d"');
  });

  it('validates its body like every other endpoint', async () => {
    const { url } = await start();
    const statusOf = async (body: string, type = 'application/json') =>
      (
        await globalThis.fetch(`${url}/dev/token`, {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        })
      ).status;
    expect(await statusOf('{')).toBe(400);
    expect(await statusOf('{"sub":1}')).toBe(400);
    expect(await statusOf('{}')).toBe(422);
    expect(await statusOf('{"sub":"a\\u0000"}')).toBe(422);
    expect(await statusOf('{"sub":"a"}', 'text/plain')).toBe(415);
    expect((await globalThis.fetch(`${url}/dev/token`)).status).toBe(405);
  });

  it('issues an expired token on request', async () => {
    const { fetch } = await start();
    const response = await fetch('/api/v1/things', { as: { expiresInSeconds: -61 } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ detail: 'The token has expired.' });
  });

  it('does not exist without the development issuer', async () => {
    const { fetch } = await startGateway(
      {},
      { DEV_ISSUER: 'false', OIDC_ISSUER: ISSUER, OIDC_JWKS_URL: 'http://127.0.0.1:1/keys' },
    );
    expect((await fetch('/dev/token', { as: null, method: 'POST' })).status).toBe(404);
  });
});
