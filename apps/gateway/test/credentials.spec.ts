import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { pino } from 'pino';
import { createLocalJWKSet, exportJWK, SignJWT, type JWK, type JWTVerifyGetKey } from 'jose';
import { defaultClaimNames } from '../src/identity/claims';
import { Credentials } from '../src/identity/credential';
import { configurationErrors, GatewayConfig } from '../src/config';
import type { Issuer } from '../src/identity/issuers';
import { remoteKeys } from '../src/identity/jwks';
import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Log } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import {
  closeAll,
  echo,
  gatewayEnvironment,
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

  it('may have claims without a value, which say nothing', async () => {
    const { send, received } = await start();
    const nothing = { name: '', preferred_username: 'Ada', tenants: null, roles: null, realm_access: null };
    expect((await send(await token({ claims: { ...nothing, permissions: null } }))).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({ userName: 'Ada', permissions: [] });
    expect((await send(await token({ claims: { tenant_id: null } }))).status).toBe(401);
  });

  // When a test runs is not known where it is declared.
  it.each<[string, Made | (() => Made)]>([
    ['expired', () => ({ claims: { exp: seconds() - 300 } })],
    ['without an expiry', { claims: { exp: undefined } }],
    ['not good yet', () => ({ claims: { nbf: seconds() + 300 } })],
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
    const response = await send(await token(typeof made === 'function' ? made() : made));
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

  it('is forgotten where others need the memory, however long those are', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const set = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'EdDSA' }] });
    let verifications = 0;
    const keys: JWTVerifyGetKey = (header, signed) => {
      verifications += 1;
      return set(header, signed);
    };
    const issuer = { issuer: ISSUER, audience: 'plinth', keys, claims: defaultClaimNames, userPrefix: '' };
    const credentials = new Credentials([issuer], {}, { now: () => new Date() });
    const connection = {};
    const made = (claims: object) =>
      token({ claims: { ...claims }, header: { alg: 'EdDSA' }, key: privateKey });
    const verificationsOf = async (text: string): Promise<number> => {
      const before = verifications;
      await credentials.identify({ headers: [`Bearer ${text}`], connection }, async () => undefined);
      return verifications - before;
    };
    const usual = await made({});
    const permissions = Array.from({ length: 200 }, (_, index) => `Permission.Of.A.Long.Name.Number${index}`);
    expect([await verificationsOf(usual), await verificationsOf(usual)]).toEqual([1, 0]);

    let last = usual;
    for (let length = 0; length < 16_000_000; length += last.length) {
      last = await made({ sub: `user-${length}`, permissions });
      await verificationsOf(last);
    }

    expect([await verificationsOf(last), await verificationsOf(usual)]).toEqual([0, 1]);
  });

  it('is accepted until its expiry plus a tolerance of 60 s, also when it was verified before', async () => {
    let now = new Date('2026-11-21T12:00:00Z');
    const clock = { now: () => now };
    const keys = createLocalJWKSet({ keys: [await jwk(rsa.publicKey, 'k1')] });
    const issuer = { issuer: ISSUER, audience: 'plinth', keys, claims: defaultClaimNames, userPrefix: '' };
    const credentials = new Credentials([issuer], {}, clock);
    const exp = now.getTime() / 1000 + 100;
    const bearer = { headers: [`Bearer ${await token({ claims: { exp } })}`], connection: {} };
    const statusAt = async (after: number) => {
      now = new Date((exp + after) * 1000);
      return Promise.resolve(credentials.identify(bearer, async () => undefined)).then(
        () => 200,
        () => 401,
      );
    };
    expect([await statusAt(-50), await statusAt(0), await statusAt(59), await statusAt(61)]).toEqual([
      200, 200, 200, 401,
    ]);
  });

  /** A token that was accepted once, whose issuer then withdraws the key that signed it, or does not respond. */
  async function acceptedToken() {
    let now = Date.now();
    let keys: JWTVerifyGetKey = createLocalJWKSet({ keys: [await jwk(rsa.publicKey, 'k1')] });
    const issuer: Issuer = {
      issuer: ISSUER,
      audience: 'plinth',
      keys: (header, signed) => keys(header, signed),
      claims: defaultClaimNames,
      userPrefix: '',
    };
    const credentials = new Credentials([issuer], {}, { now: () => new Date(now) });
    const made = await token({ claims: { exp: seconds() + 1_000_000 } });
    const bearer = { headers: [`Bearer ${made}`], connection: {} };
    const isAccepted = () =>
      Promise.resolve(credentials.identify(bearer, async () => undefined)).then(
        () => true,
        () => false,
      );
    expect(await isAccepted()).toBe(true);
    return {
      isAccepted,
      pass: (seconds: number) => void (now += seconds * 1000),
      async withdrawKey() {
        keys = createLocalJWKSet({ keys: [await jwk(other.publicKey, 'k2')] });
      },
      takeIssuerAway() {
        keys = async () => {
          throw platformProblems['identity-provider-unavailable']('The keys cannot be fetched.');
        };
      },
    };
  }

  it('is refused when its issuer has withdrawn the key that signed it, and goes on while the issuer does not respond', async () => {
    const { isAccepted, pass, withdrawKey, takeIssuerAway } = await acceptedToken();
    takeIssuerAway();
    pass(61);
    expect([await isAccepted(), await isAccepted()]).toEqual([true, true]);
    pass(18_000);
    expect([await isAccepted(), await isAccepted()]).toEqual([true, true]);

    await withdrawKey();
    pass(61);
    await eventually(async () => !(await isAccepted()));
  });

  it('that was not used for hours is refused at once when its issuer has withdrawn the key that signed it', async () => {
    const { isAccepted, pass, withdrawKey } = await acceptedToken();
    await withdrawKey();
    pass(18_000);
    const together = await Promise.all([isAccepted(), isAccepted(), isAccepted()]);
    expect([...together, await isAccepted()]).toEqual([false, false, false, false]);
  });
});

describe('several issuers', () => {
  const PARTNER = 'https://login.partner.example';
  const partner = async (more: object = {}) => {
    const keys = JSON.stringify({ keys: [await jwk(other.publicKey, 'p1')] });
    const url = await startUpstream((_request, response) => response.end(keys));
    return JSON.stringify([{ issuer: PARTNER, jwksUrl: url, ...more }]);
  };
  const partnerToken = (claims: object = {}) =>
    token({ key: other.privateKey, header: { kid: 'p1' }, claims: { iss: PARTNER, ...claims } });

  it('are accepted at once, each with its own keys, audience and claims', async () => {
    const claims = {
      user: 'oid',
      name: ['display', 'upn'],
      tenant: 'https://partner.example/tenant',
      roles: ['resource_access.plinth.roles', 'groups'],
    };
    const { send, received } = await start({ OIDC_ISSUERS: await partner({ audience: 'api', claims }) });
    const foreign = {
      aud: 'api',
      oid: 'grace',
      upn: 'Grace',
      tenant_id: undefined,
      'https://partner.example/tenant': OTHER_TENANT_ID,
      resource_access: { plinth: { roles: ['reader'] }, account: { roles: ['admin'] } },
      groups: ['nothing'],
    };

    expect((await send(await token())).status).toBe(200);
    expect((await send(await partnerToken(foreign))).status).toBe(200);
    expect(received[1]!.claims.caller).toMatchObject({
      userId: 'grace',
      userName: 'Grace',
      tenantId: OTHER_TENANT_ID,
      permissions: ['Templating.Templates.Read'],
    });
    expect((await send(await partnerToken({ ...foreign, aud: 'plinth' }))).status).toBe(401);
    expect((await send(await token({ claims: { iss: PARTNER, aud: 'api' } }))).status).toBe(401);
  });

  it('speak only for their tenants, and their users are none of another issuer', async () => {
    const issuers = await partner({ tenants: [OTHER_TENANT_ID], userPrefix: 'partner:' });
    const { send, received } = await start({ OIDC_ISSUERS: issuers });

    expect((await send(await partnerToken())).status).toBe(401);
    const alsoElsewhere = { tenant_id: OTHER_TENANT_ID, tenants: [TENANT_ID] };
    expect((await send(await partnerToken(alsoElsewhere))).status).toBe(401);
    expect((await send(await partnerToken({ tenant_id: OTHER_TENANT_ID }))).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({ userId: 'partner:ada' });
    expect((await send(await token({ claims: { sub: 'partner:ada' } }))).status).toBe(401);
    expect((await send(await token({ claims: { sub: 'partner' } }))).status).toBe(200);
  });

  it.each([
    ['speak for all tenants', {}, {}, true],
    ['share a tenant', { tenants: [TENANT_ID] }, { tenants: [OTHER_TENANT_ID, TENANT_ID] }, true],
    ['share a tenant by switching', { tenants: [HOST_TENANT_ID] }, { tenants: [TENANT_ID] }, true],
    ['share no tenant', { tenants: [OTHER_TENANT_ID] }, { tenants: [TENANT_ID] }, false],
    ['have prefixes of their own', { userPrefix: 'one:' }, { userPrefix: 'other:' }, false],
    ['have one prefix', { userPrefix: 'one:' }, { userPrefix: 'one:' }, true],
  ])('that %s, %j and %j: whether production refuses them is %s', (_what, one, other, isRefused) => {
    const issuers = [one, other].map((more, index) => ({
      issuer: `https://login${index}.example`,
      jwksUrl: 'https://login.example/keys',
      ...more,
    }));
    const production = { NODE_ENV: 'production', DEV_ISSUER: 'false', OIDC_ISSUERS: JSON.stringify(issuers) };
    const errors = configurationErrors(GatewayConfig.parse(gatewayEnvironment({}, production)));

    expect(errors.some((error) => /could name each other's users/.test(error))).toBe(isRefused);
  });
});

it.each(['plinth', 'plinth-console'])('an ID token for %s is told from a foreign one', async (aud) => {
  const { send } = await start();
  const response = await send(await token({ claims: { typ: 'ID', aud } }));
  expect(await response.json()).toMatchObject({ status: 401, detail: expect.stringContaining('ID token') });
});

describe('a credential that is refused', () => {
  it('leaves a line and a metric with the reason, and never its text', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const gateway = await startGateway({}, {}, { log });
    const refuse = (authorization: string) => gateway.fetch('/api/v1/things', { headers: { authorization } });
    const expired = await gateway.token({ expiresInSeconds: -100 });
    const key = rsa.privateKey;
    const foreign = await token({ key });

    for (const text of [`Bearer ${expired}`, `Bearer ${foreign}`, 'Basic dGhlOnNlY3JldA=='])
      expect((await refuse(text)).status).toBe(401);

    const refused = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'credential refused');
    expect(refused.map(({ reason }) => reason)).toEqual(['expired', 'issuer', 'malformed']);
    for (const part of [...expired.split('.'), ...foreign.split('.'), 'dGhlOnNlY3JldA'])
      expect(lines.join('')).not.toContain(part);
    expect(await gateway.gateway.metrics.metrics()).toMatch(
      /plinth_gateway_refused_credentials_total\{reason="expired",.*\} 1/,
    );
  });
});

it('access that is refused leaves a line that says to whom and to what', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const gateway = await startGateway({}, {}, { log });
  const response = await gateway.fetch('/api/v1/things/x', {
    method: 'DELETE',
    as: { sub: 'mallory', roles: [], permissions: [] },
  });
  expect(response.status).toBe(403);
  const refused = await eventually(() => lines.find((line) => line.includes('access refused')));
  expect(JSON.parse(refused)).toMatchObject({
    method: 'DELETE',
    area: 'things',
    status: 403,
    userId: 'mallory',
    tenantId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

describe('the address of the keys', () => {
  it('is in the log and the readiness of the process where nothing is there, and nothing else is refused for it', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const jwksUrl = `${await startUpstream((_request, response) => response.writeHead(404).end())}/keys`;
    const { gateway, fetch } = await startGateway(
      {},
      { OIDC_ISSUER: ISSUER, OIDC_JWKS_URL: jwksUrl },
      { log },
    );

    const readiness = [await gateway.health.readiness(), await gateway.health.readiness()];

    const part = `identity provider ${ISSUER}`;
    expect(readiness[1]).toMatchObject({
      ready: true,
      parts: { [part]: 'down' },
      causes: { [part]: expect.stringContaining(jwksUrl) },
    });
    expect(lines.filter((line) => line.includes('part is down'))).toHaveLength(1);
    expect(lines.join('')).toContain(jwksUrl);
    const page = await (await fetch('/readyz', { as: null })).text();
    expect(page).toContain(`"${part}":"down"`);
    expect(page).not.toContain(jwksUrl);
  });
});

describe('the keys of the identity provider', () => {
  const withProvider = (fetchKeys: () => Promise<{ keys: JWK[] } | Response>) => {
    let now = 1_795_000_000_000;
    let fetches = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const lines: string[] = [];
    const note = (_fields: object, message: string) => void lines.push(message);
    const log = { warn: note, info: note } as unknown as Log;
    const keys = remoteKeys('https://id.example/keys', log, async () => {
      fetches += 1;
      const fetched = await fetchKeys();
      return fetched instanceof Response ? fetched : Response.json(fetched);
    });
    const find = async (kid: string) => keys.find({ alg: 'RS256', kid }, { payload: '', signature: '' });
    const pass = (afterSeconds: number) => (now += afterSeconds * 1000);
    return { find, check: keys.check, pass, fetches: () => fetches, lines };
  };
  afterEach(() => jest.restoreAllMocks());

  it('can change without a restart of the gateway', async () => {
    const set = [await jwk(rsa.publicKey, 'k1')];
    const provider = withProvider(async () => ({ keys: [...set] }));
    await provider.find('k1');
    set.push(await jwk(other.publicKey, 'k2'));
    await expect(provider.find('k2')).rejects.toThrow('no applicable key');
    provider.pass(6);
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

  it('are not read where there are more of them than any provider has', async () => {
    const one = await jwk(rsa.publicKey, 'k1');
    const provider = withProvider(async () => ({ keys: Array.from({ length: 2_000 }, () => one) }));
    await expect(provider.check()).rejects.toThrow('The keys are too many');
    await expect(provider.find('k1')).rejects.toMatchObject({ kind: 'upstream' });
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
    expect(provider.fetches()).toBe(2);
    await expect(provider.check()).rejects.toThrow(
      'The keys at https://id.example/keys cannot be fetched: away',
    );
    isAway = false;
    provider.pass(2);
    await provider.find('k1');
    await provider.check();
    expect(provider.lines).toEqual([
      'the keys of the identity provider cannot be fetched',
      'the keys of the identity provider can be fetched again',
    ]);
  });

  it('are fetched again before they are too old, and nobody waits for a slow provider', async () => {
    let answer = Promise.resolve({ keys: [await jwk(rsa.publicKey, 'k1')] });
    const provider = withProvider(() => answer);
    await provider.find('k1');
    const slow = Promise.withResolvers<{ keys: JWK[] }>();
    answer = slow.promise;
    provider.pass(400);
    await provider.find('k1');
    await provider.find('k1');
    expect(provider.fetches()).toBe(2);
    slow.resolve({ keys: [await jwk(other.publicKey, 'k2')] });
    await eventually(() => provider.find('k2'));
    provider.pass(250);
    await provider.find('k2');
    expect(provider.fetches()).toBe(2);
  });

  it.each([
    [
      'nothing',
      () => {
        throw new Error('refused');
      },
    ],
    ['an error', () => new Response('away', { status: 503 })],
    ['a page of HTML', () => new Response('<html>')],
  ])('are fetched ahead again soon where the provider responded with %s', async (_name, unwell) => {
    const keys = { keys: [await jwk(rsa.publicKey, 'k1')] };
    let response: () => Response | { keys: JWK[] } = () => keys;
    const provider = withProvider(async () => response());
    await provider.find('k1');
    response = unwell;
    provider.pass(310);
    await provider.find('k1');
    await eventually(() => provider.lines.includes('the keys of the identity provider cannot be fetched'));
    const timeouts = jest.spyOn(AbortSignal, 'timeout');
    for (let count = 0; count < 100; count++) await provider.find('k1');
    expect([provider.fetches(), timeouts.mock.calls.length]).toEqual([2, 0]);
    response = () => keys;
    provider.pass(2);
    await provider.find('k1');
    await eventually(() => provider.lines.includes('the keys of the identity provider can be fetched again'));
    expect(provider.fetches()).toBe(3);
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
