import { GatewayConfig, faultsOf } from '../src/config';
import { closeAll, echo, gatewayEnvironment, startGateway, startUpstream } from './start-gateway';

afterEach(closeAll);

const CONFIGURED = 'https://app.example,https://admin.example:8443,http://[2001:db8::1]:3000';

const start = async (environment: Record<string, string> = {}) =>
  startGateway(
    { things: await startUpstream(echo()) },
    { CORS_ORIGINS: CONFIGURED, CORS_CREDENTIALS: 'true', ...environment },
  );

const allowed = [
  'https://app.example',
  'https://admin.example:8443',
  'http://[2001:db8::1]:3000',
  'http://localhost',
  'http://localhost:1',
  'http://localhost:3000',
  'http://localhost:65535',
  'http://127.0.0.1',
  'http://127.0.0.1:80',
  'http://127.0.0.1:5173',
];

const refused = [
  'null',
  '*',
  'https://APP.example',
  'HTTPS://app.example',
  'https://app.example:443',
  'https://app.example:8443',
  'https://app.example/',
  'https://app.example.',
  'https://app.example.evil.example',
  'https://evilapp.example',
  'https://evil-app.example',
  'https://sub.app.example',
  'https://app.exampl',
  'https://app.examplee',
  'http://app.example',
  'ws://app.example',
  'https://app.example@evil.example',
  'https://evil.example?https://app.example',
  'https://evil.example#https://app.example',
  'https://app.example,https://evil.example',
  'https://app.example https://evil.example',
  'https://app_example',
  'https://appXexample',
  'https://admin.example',
  'https://admin.example:8444',
  'https://admin.example:08443',
  'http://admin.example:8443',
  'http://[2001:db8::1]',
  'http://[2001:db8::1]:3001',
  'http://[2001:DB8::1]:3000',
  'http://[2001:db8:0::1]:3000',
  'http://[::1]:3000',
  'http://[::1]',
  'https://localhost',
  'https://localhost:3000',
  'https://127.0.0.1:3000',
  'http://LOCALHOST:3000',
  'http://localhost:',
  'http://localhost:0',
  'http://localhost:65536',
  'http://localhost:99999',
  'http://localhost:03000',
  'http://localhost:3000/',
  'http://localhost.evil.example',
  'http://localhost:3000.evil.example',
  'http://evil.localhost:3000',
  'http://127.0.0.2:3000',
  'http://127.0.0.1.evil.example',
  'http://127.1:3000',
  'http://0.0.0.0:3000',
  'http://2130706433:3000',
  'http://0x7f.1:3000',
  'file://',
  'chrome-extension://abc',
  'about:blank',
  'data:',
];

describe('the pages of an origin', () => {
  it('may use the interface when it is exactly a configured one, or of this machine in development', async () => {
    const { fetch } = await start();
    expect(allowed.length + refused.length).toBeGreaterThanOrEqual(60);
    for (const origin of [...allowed, ...refused]) {
      const { headers, status } = await fetch('/api/v1/things', { headers: { origin } });
      expect([origin, status, headers.get('access-control-allow-origin')]).toEqual([
        origin,
        200,
        allowed.includes(origin) ? origin : null,
      ]);
      expect([origin, headers.get('vary')]).toEqual([origin, expect.stringContaining('Origin')]);
      expect([origin, headers.get('access-control-allow-credentials')]).toEqual([
        origin,
        allowed.includes(origin) ? 'true' : null,
      ]);
    }
  });

  it('ask first without a credential: any method and any header, for an allowed origin', async () => {
    const { fetch } = await start();
    const preflight = (origin: string, path = '/api/v1/things') =>
      fetch(path, {
        as: null,
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'DELETE',
          'access-control-request-headers': 'authorization, x-anything',
        },
      });
    for (const path of ['/api/v1/things', '/greeting', '/nowhere']) {
      const { status, headers } = await preflight('https://app.example', path);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
      expect(headers.get('access-control-allow-methods')).toContain('DELETE');
      expect(headers.get('access-control-allow-headers')).toBe('authorization, x-anything');
      expect(headers.get('vary')).toMatch(/Access-Control-Request-Method.*Origin/);
    }
    const evil = await preflight('https://evil.example');
    expect([
      evil.status,
      evil.headers.get('access-control-allow-origin'),
      evil.headers.get('access-control-allow-methods'),
    ]).toEqual([204, null, null]);
    expect(evil.headers.get('vary')).toContain('Origin');
  });

  it('can read the headers that clients need', async () => {
    const { fetch } = await start();
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'https://app.example' } });
    const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ');
    for (const name of [
      'content-disposition',
      'location',
      'retry-after',
      'x-idempotency-replayed',
      'api-supported-versions',
      'api-deprecated-versions',
      'deprecation',
      'sunset',
      'link',
      'ratelimit',
      'ratelimit-policy',
      'etag',
    ]) {
      expect(exposed).toContain(name);
    }
  });

  it('can read failures too', async () => {
    const { fetch } = await start();
    for (const path of ['/api/v1/nowhere', '/api/v9/things', '/api/v1//things']) {
      const { headers } = await fetch(path, { as: null, headers: { origin: 'https://app.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    }
  });

  it('of this machine are nothing special outside development', async () => {
    const { fetch } = await start({ NODE_ENV: 'test' });
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'http://localhost:3000' } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('do not get credentials allowed when the flag is off', async () => {
    const { fetch } = await start({ CORS_CREDENTIALS: 'false' });
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'https://app.example' } });
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('vary the answer, also when nobody asked for an origin and the service varies it too', async () => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(200, { vary: 'Accept-Language' }).end(),
    );
    const { fetch } = await startGateway({ things: upstream });
    expect((await fetch('/api/v1/things')).headers.get('vary')).toBe('Accept-Language, Origin');
    expect((await fetch('/nowhere')).headers.get('vary')).toBe('Origin');
  });
});

describe('a configuration of origins', () => {
  const faults = (environment: Record<string, string>) =>
    faultsOf(
      GatewayConfig.parse({
        ...gatewayEnvironment({}),
        OIDC_ISSUER: 'https://id.example',
        OIDC_JWKS_URL: 'https://id.example/keys',
        ...environment,
      }),
    );

  it('with a wildcard stops the start outside development', () => {
    expect(faults({ NODE_ENV: 'production', DEV_ISSUER: 'false', CORS_ORIGINS: '*' })).toEqual([
      expect.stringContaining('CORS_ORIGINS'),
    ]);
    expect(faults({ NODE_ENV: 'test', CORS_ORIGINS: 'https://a.example,*' })).toEqual([
      expect.stringContaining('CORS_ORIGINS'),
    ]);
    expect(faults({ NODE_ENV: 'development', CORS_ORIGINS: '*' })).toEqual([]);
  });

  it('with something that is no origin stops the start', () => {
    for (const origin of ['app.example', 'https://app.example/', 'https://*.example', 'null']) {
      expect(faults({ CORS_ORIGINS: origin })).toEqual([expect.stringContaining('CORS_ORIGINS')]);
    }
  });

  it('stops the start of a production with the development issuer', () => {
    expect(faults({ NODE_ENV: 'production' })).toEqual([expect.stringContaining('DEV_ISSUER')]);
  });
});
