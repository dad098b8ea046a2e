import { createHash, randomBytes } from 'node:crypto';
import {
  closeAll,
  echo,
  startGateway,
  startUpstream,
  TENANT_ID,
  type ReceivedRequest,
} from './start-gateway';
import { runProvider, signInAt, startProvider } from './start-provider';

let provider: Awaited<ReturnType<typeof runProvider>>;
beforeAll(async () => {
  provider = await runProvider();
});
afterAll(() => provider?.end());
afterEach(closeAll);

async function startPlatform(issuer = provider.issuer) {
  const received: ReceivedRequest[] = [];
  const things = await startUpstream(echo(received));
  const gateway = await startGateway({ things }, signInAt(issuer));
  const send = (token: string) =>
    gateway.fetch('/api/v1/things/one', { as: null, headers: { authorization: `Bearer ${token}` } });
  return { received, send };
}

async function tokenOf(issuer: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
  const token = (await response.json()) as { access_token?: string };
  if (!token.access_token) throw new Error(JSON.stringify(token));
  return token.access_token;
}

const tokenOfClient = (issuer: string, id: string) =>
  tokenOf(issuer, {
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: 'a secret of a client',
    scope: 'plinth',
  });

/** Signs a person in as a browser does: authorization code with a proof key, forms and cookies included. */
async function tokenOfPerson(issuer: string, person: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>) => {
    const response = await fetch(new URL(url, issuer), {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      cookies.set(name!, value!);
    }
    return response.headers.get('location') ?? '';
  };
  const query = new URLSearchParams({
    client_id: 'browser',
    response_type: 'code',
    scope: 'openid plinth',
    redirect_uri: 'http://127.0.0.1/back',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const signIn = await visit(`/auth?${query}`);
  const consent = await visit(await visit(signIn, { prompt: 'login', login: person, password: 'x' }));
  const back = await visit(await visit(consent, { prompt: 'consent' }));
  return tokenOf(issuer, {
    grant_type: 'authorization_code',
    client_id: 'browser',
    code: new URL(back).searchParams.get('code') ?? '',
    redirect_uri: 'http://127.0.0.1/back',
    code_verifier: verifier,
  });
}

describe('the tokens of a real OpenID provider', () => {
  it.each(['robot', 'keycloak-robot'])(
    'are accepted for the client %s with its tenant and its roles',
    async (id) => {
      const { received, send } = await startPlatform();

      const response = await send(await tokenOfClient(provider.issuer, id));

      expect(response.status).toBe(200);
      expect(received[0]?.claims.caller).toMatchObject({ tenantId: TENANT_ID, userId: id });
    },
  );

  it.each(['ada', 'kim'])('are accepted for %s, who signed in with a browser', async (person) => {
    const { received, send } = await startPlatform();

    const response = await send(await tokenOfPerson(provider.issuer, person));

    expect(response.status).toBe(200);
    expect(received[0]?.claims.caller).toMatchObject({ tenantId: TENANT_ID, userId: person });
    expect(received[0]?.claims.caller?.permissions).not.toEqual([]);
  });

  it('give a caller no role that the provider did not give', async () => {
    const { send } = await startPlatform();

    const response = await send(await tokenOfPerson(provider.issuer, 'nobody'));

    expect(response.status).toBe(403);
  });

  it('are refused for another audience, from another provider, or changed', async () => {
    const issuer = await startProvider('somebody-else');
    const { send } = await startPlatform(issuer);
    const token = await tokenOfClient(issuer, 'robot');
    const foreign = await tokenOfClient(provider.issuer, 'robot');
    const [head, , signature] = foreign.split('.');
    const forged = Buffer.from(JSON.stringify({ iss: issuer, aud: 'plinth', sub: 'robot', exp: 9e9 }));

    for (const worthless of [token, foreign, `${head}.${forged.toString('base64url')}.${signature}`]) {
      const response = await send(worthless);
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    }
  });
});
