import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

/**
 * A certified OpenID provider in a process of its own, with people and clients of two shapes: roles in `roles`, and
 * roles where Keycloak puts them. Prints its issuer, and ends with its input.
 */
const tenant = '01900000-0000-7000-8000-00000000aaaa';
const claimsOf = {
  ada: { name: 'Ada', tenant_id: tenant, roles: ['admin'] },
  kim: { name: 'Kim', tenant_id: tenant, realm_access: { roles: ['admin'] } },
  nobody: { name: 'Nobody', tenant_id: tenant },
  robot: { tenant_id: tenant, roles: ['admin'] },
  'keycloak-robot': { tenant_id: tenant, realm_access: { roles: ['admin'] }, azp: 'keycloak-robot' },
};

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const issuer = `http://127.0.0.1:${port}`;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const machine = (/** @type {string} */ id) => ({
  client_id: id,
  client_secret: 'a secret of a client',
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

const provider = new Provider(issuer, {
  clients: [
    machine('robot'),
    machine('keycloak-robot'),
    {
      client_id: 'browser',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/back'],
      grant_types: ['authorization_code'],
    },
    {
      client_id: 'plinth-console',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/console/signed-in', 'http://127.0.0.1/docs/signed-in'],
      post_logout_redirect_uris: ['http://127.0.0.1/console'],
      grant_types: ['authorization_code'],
    },
    {
      client_id: 'plinth-cli',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: [],
      response_types: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'first', use: 'sig', alg: 'RS256' }] },
  issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
  // The console asks for its token from the browser.
  clientBasedCORS: () => true,
  cookies: { keys: ['only for this test'] },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  extraTokenClaims: (_context, token) =>
    claimsOf[/** @type {keyof typeof claimsOf} */ (token.accountId ?? token.clientId)],
  features: {
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'https://plinth.example',
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'plinth',
        audience: process.argv[2] ?? 'plinth',
        accessTokenFormat: 'jwt',
        accessTokenTTL: 300,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});
// A program that waits for its code to be confirmed asks every five seconds where nothing says how often.
provider.use(async (context, next) => {
  await next();
  if (context.path === '/device/auth') context.body = { ...Object(context.body), interval: 1 };
});
server.on('request', provider.callback());
console.log(issuer);
process.stdin.resume().on('end', () => process.exit());
