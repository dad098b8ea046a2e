import { GatewayConfig, configurationErrors } from '../src/config';
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

describe('CORS of the gateway', () => {
  it('allows exactly the configured origins, and those of localhost in development', async () => {
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

  it('allows any method and any header in a preflight of an allowed origin, without a credential', async () => {
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

  it('exposes the headers that clients need to scripts', async () => {
    const { fetch } = await start();
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'https://app.example' } });
    const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ');
    for (const name of [
      'content-disposition',
      'location',
      'retry-after',
      'idempotent-replayed',
      'x-idempotency-replayed',
      'api-supported-versions',
      'api-deprecated-versions',
      'deprecation',
      'sunset',
      'link',
      'ratelimit',
      'ratelimit-policy',
      'etag',
      'allow',
      'www-authenticate',
    ]) {
      expect(exposed).toContain(name);
    }
  });

  it('lets scripts read error responses too', async () => {
    const { fetch } = await start();
    for (const path of ['/api/v1/nowhere', '/api/v9/things', '/api/v1//things']) {
      const { headers } = await fetch(path, { as: null, headers: { origin: 'https://app.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
    }
  });

  it('does not allow localhost outside development', async () => {
    const { fetch } = await start({ NODE_ENV: 'test' });
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'http://localhost:3000' } });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('does not allow credentials when CORS_CREDENTIALS is off', async () => {
    const { fetch } = await start({ CORS_CREDENTIALS: 'false' });
    const { headers } = await fetch('/api/v1/things', { headers: { origin: 'https://app.example' } });
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('varies every response with Origin, also without an Origin header and beside a Vary of the service', async () => {
    const upstream = await startUpstream((_request, response) =>
      response.writeHead(200, { vary: 'Accept-Language' }).end(),
    );
    const { fetch } = await startGateway({ things: upstream });
    expect((await fetch('/api/v1/things')).headers.get('vary')).toBe('Accept-Language, Origin');
    expect((await fetch('/nowhere')).headers.get('vary')).toBe('Origin');
  });
});

describe('the configuration of the gateway', () => {
  const faults = (environment: Record<string, string>) =>
    configurationErrors(
      GatewayConfig.parse({
        ...gatewayEnvironment({}),
        OIDC_ISSUER: 'https://id.example',
        OIDC_JWKS_URL: 'https://id.example/keys',
        ...environment,
      }),
    );

  it('refuses to start with a wildcard origin outside development', () => {
    expect(faults({ NODE_ENV: 'production', DEV_ISSUER: 'false', CORS_ORIGINS: '*' })).toEqual([
      expect.stringContaining('CORS_ORIGINS'),
    ]);
    expect(faults({ NODE_ENV: 'test', CORS_ORIGINS: 'https://a.example,*' })).toEqual([
      expect.stringContaining('CORS_ORIGINS'),
    ]);
    expect(faults({ NODE_ENV: 'development', CORS_ORIGINS: '*' })).toEqual([]);
  });

  it('refuses to start with a value that is not an origin', () => {
    for (const origin of ['app.example', 'https://app.example/', 'https://*.example', 'null']) {
      expect(faults({ CORS_ORIGINS: origin })).toEqual([expect.stringContaining('CORS_ORIGINS')]);
    }
  });

  it('refuses to start in production with an issuer without TLS', () => {
    const production = { NODE_ENV: 'production', DEV_ISSUER: 'false' };
    expect(faults({ ...production, OIDC_ISSUER: 'http://id.example' })).toEqual([
      expect.stringContaining('OIDC_ISSUER'),
    ]);
    expect(faults(production)).toEqual([]);
  });

  it('refuses to start with a role that has an unknown permission', () => {
    const roles = JSON.stringify({ editor: ['Templating.Templates.Read', 'Orders.Orders.Approve'] });
    expect(faults({ ROLE_PERMISSIONS: roles })).toEqual([expect.stringContaining('Orders.Orders.Approve')]);
    expect(faults({ ROLE_PERMISSIONS: roles, EXTRA_PERMISSIONS: 'Orders.Orders.Approve' })).toEqual([]);
  });

  it('refuses to start in production with the development issuer', () => {
    expect(faults({ NODE_ENV: 'production' })).toEqual([expect.stringContaining('DEV_ISSUER')]);
  });
});
