import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { closeAll, HOST_TENANT_ID, startGateway, TENANT_ID } from './start-gateway';

const PAGE =
  '<!doctype html><head><meta property="csp-nonce" nonce="__CSP_NONCE__"><title>Console</title></head>';
const SCRIPT = 'document.title = "Console";';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'pages.json'), '{"/imports/$jobId":["assets/main-a1b2c3.js"]}');
  writeFileSync(join(folder, 'assets/main-a1b2c3.js'), SCRIPT);
  writeFileSync(join(folder, 'assets/main-a1b2c3.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets/main-a1b2c3.js.map'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(closeAll);

const start = (environment: Record<string, string> = {}) =>
  startGateway({}, { CONSOLE_DIRECTORY: folder, ...environment });

describe('GET /', () => {
  it('leads browsers to the console, and is nothing to everybody else', async () => {
    const { fetch } = await start();
    const asBrowser = await fetch('/', {
      as: null,
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
      redirect: 'manual',
    });
    expect([asBrowser.status, asBrowser.headers.get('location')]).toEqual([302, '/console']);
    expect(asBrowser.headers.get('vary')).toMatch(/Accept/);
    for (const accept of ['*/*', 'application/json']) {
      const response = await fetch('/', { as: null, headers: { accept }, redirect: 'manual' });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'application/problem+json',
      ]);
    }
    expect((await fetch('/', { as: null, method: 'POST' })).status).toBe(404);
  });
});

describe('GET /console', () => {
  it('sends the page at each of its addresses, with a policy that allows nothing inline and nobody else', async () => {
    const { fetch } = await start();
    const nonces = new Set<string>();
    for (const path of ['/console', '/console/', '/console/imports/4711']) {
      const response = await fetch(path, { as: null });
      const policy = response.headers.get('content-security-policy')!;
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(policy).not.toMatch(/unsafe-|https?:|\*/);
      const nonce = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy)![1]!;
      expect(await response.text()).toContain(`nonce="${nonce}"`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  it('names the scripts of the page at an address, and stores none of those pages', async () => {
    const { fetch } = await start();
    const textAt = async (path: string) => {
      const response = await fetch(path, { as: null });
      expect(response.headers.get('cache-control')).toBe('no-store');
      return response.text();
    };
    expect(await textAt('/console/imports/4711?step=columns')).toMatch(
      /<link rel="modulepreload"[^>]* href="\/console\/assets\/main-a1b2c3.js">/,
    );
    expect(await textAt('/console/imports')).not.toContain('modulepreload');
    expect((await fetch('/console/pages.json', { as: null })).headers.get('content-type')).toMatch(/html/);
  });

  it('has a blank page that shows documents in a frame of its own, and can neither run nor ask for anything', async () => {
    const { fetch } = await start();
    const response = await fetch('/console/blank', { as: null });
    const policy = response.headers.get('content-security-policy')!.split('; ');

    expect(response.status).toBe(200);
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        'img-src data:',
        "frame-ancestors 'self'",
        'sandbox allow-same-origin',
      ]),
    );
    expect(policy.join()).not.toMatch(/script|https?:|\*/);
  });

  it('lets the page talk to the issuer that signs people in, and says so to the page', async () => {
    const { fetch } = await start({
      OIDC_ISSUER: 'https://login.example/realms/plinth',
      OIDC_JWKS_URL: 'https://login.example/keys',
      CONSOLE_AUTHORIZATION_PARAMETERS: '{"resource":"https://plinth.example"}',
    });
    const { headers } = await fetch('/console', { as: null });
    expect(headers.get('content-security-policy')).toContain("connect-src 'self' https://login.example;");
    expect(await (await fetch('/console/configuration', { as: null })).json()).toEqual({
      openId: {
        issuer: 'https://login.example/realms/plinth',
        clientId: 'plinth-console',
        scope: 'openid profile',
        parameters: { resource: 'https://plinth.example' },
      },
      development: {
        tenants: [
          { id: TENANT_ID, shortName: 'acme', name: 'Acme' },
          { id: HOST_TENANT_ID, shortName: 'host', name: 'Plinth' },
        ],
      },
    });
  });

  it('offers no people to be where the development issuer is off', async () => {
    const issuer = { OIDC_ISSUER: 'https://login.example', OIDC_JWKS_URL: 'https://login.example/keys' };
    const { fetch } = await start({ ...issuer, DEV_ISSUER: 'false' });
    expect(await (await fetch('/console/configuration', { as: null })).json()).toMatchObject({
      development: null,
    });
    const asPage = { as: null, headers: { accept: 'text/html' } };
    expect((await fetch('/console/configuration', asPage)).status).toBe(406);
  });

  it('sends files compressed to those who can read it, to be cached for ever', async () => {
    const { fetch } = await start();
    for (const [encoding, sent] of [
      ['br', 'br'],
      ['identity', null],
    ] as const) {
      const response = await fetch('/console/assets/main-a1b2c3.js', {
        as: null,
        headers: { 'accept-encoding': encoding },
      });
      expect([response.status, response.headers.get('content-encoding')]).toEqual([200, sent]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=86400, immutable');
      expect(response.headers.get('vary')).toMatch(/Accept-Encoding/i);
      expect(await response.text()).toBe(SCRIPT);
    }
  });

  it('has no other files, whatever they are called', async () => {
    const { fetch } = await start();
    for (const name of [
      'nothing.js',
      'main-a1b2c3.js.map',
      'main-a1b2c3.js.br',
      '..%2Findex.html',
      '__proto__',
    ])
      expect([name, (await fetch(`/console/assets/${name}`, { as: null })).status]).toEqual([
        name,
        name.includes('%2F') ? 400 : 404,
      ]);
    expect((await fetch('/console', { as: null, method: 'POST' })).status).toBe(405);
  });

  it('is not there where it is not built', async () => {
    const { fetch } = await start({ CONSOLE_DIRECTORY: join(folder, 'nowhere') });
    expect((await fetch('/console', { as: null })).status).toBe(404);
  });
});

describe('GET /me', () => {
  it('says whom the credential stands for, in the tenant of the request', async () => {
    const { fetch } = await start();
    const other = '01900000-0000-7000-8000-00000000bbbb';
    const own = await fetch('/me', { as: { roles: [], permissions: ['Workflow.History.Read'] } });
    expect(own.headers.get('cache-control')).toBe('private, no-cache');
    expect(await own.json()).toEqual({
      userId: 'ada',
      userName: 'Ada',
      tenantId: TENANT_ID,
      tenantName: 'Acme',
      permissions: ['Workflow.History.Read'],
    });
    const elsewhere = await fetch('/me', { as: { tenants: [other] }, headers: { 'x-tenant-id': other } });
    expect(await elsewhere.json()).toMatchObject({ tenantId: other, tenantName: null, permissions: ['*'] });
    expect((await fetch('/me', { headers: { 'x-tenant-id': other } })).status).toBe(403);
  });

  it('requires a credential that is valid', async () => {
    const { fetch } = await start();
    expect((await fetch('/me', { as: null })).status).toBe(401);
    expect((await fetch('/me', { as: null, headers: { authorization: 'Bearer nonsense' } })).status).toBe(
      401,
    );
  });
});
