import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { findCredential, storeCredential } from './credentials';
import { ExitCode } from './exit-codes';
import { addGlobalOptions, openSession } from './session';

/** The same module as another program has it, which shares files only. */
let openSessionElsewhere: typeof openSession;
beforeAll(async () => {
  await jest.isolateModulesAsync(async () => {
    openSessionElsewhere = (await import('./session')).openSession;
  });
});

const PLATFORM = 'http://platform.test';

let configuration: string;
let server: Server;
let issuer: string;
/** The refresh token that the issuer accepts; each is accepted once, and none after one that came a second time. */
let accepted: string;
let requested: number;

const lasting = (seconds: number) => ({
  expiresAt: Date.now() + seconds * 1_000,
  issuer,
  clientId: 'plinth-cli',
});

beforeEach(async () => {
  [requested, accepted] = [0, 'first'];
  server = createServer(async (request, response) => {
    const respond = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration')
      return respond(200, { issuer, token_endpoint: `${issuer}/token` });
    const given = new URLSearchParams(await text(request)).get('refresh_token');
    requested++;
    const isAccepted = given === accepted;
    accepted = isAccepted ? `${accepted} again` : '';
    if (!isAccepted) return respond(400, { error: 'invalid_grant' });
    return respond(200, {
      access_token: 'new',
      token_type: 'bearer',
      expires_in: 300,
      refresh_token: accepted,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  configuration = mkdtempSync(join(tmpdir(), 'plinth-session-'));
  jest.replaceProperty(process, 'env', {
    ...process.env,
    XDG_CONFIG_HOME: configuration,
    PLINTH_URL: PLATFORM,
    PLINTH_TOKEN: '',
  });
  storeCredential(PLATFORM, { ...lasting(0), accessToken: 'expired', refreshToken: 'first' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  rmSync(configuration, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
});

/** The tokens of several requests at the same moment, in as many commands as there are sessions. */
async function tokensOf(count: number, open = [openSession]): Promise<(string | null)[]> {
  const command = addGlobalOptions(new Command()).parse([], { from: 'user' });
  const sessions = open.map((openOne) => openOne(command));
  const reachIssuer = globalThis.fetch;
  const tokens: (string | null)[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (address, init) => {
    if (!String(address).startsWith(PLATFORM)) return reachIssuer(address, init);
    tokens.push(new Headers(init?.headers).get('authorization'));
    return Response.json({});
  });
  const requests = Array.from({ length: count }, (_, at) =>
    sessions[at % sessions.length]!.gateway.getCaller(),
  );
  await Promise.all(requests);
  return tokens;
}

describe('a sign-in that has expired', () => {
  it('is renewed once for all requests of a command', async () => {
    expect(await tokensOf(3)).toEqual(Array(3).fill('Bearer new'));

    expect(requested).toBe(1);
    expect(findCredential(PLATFORM)).toMatchObject({ accessToken: 'new', refreshToken: 'first again' });
  });

  it('is renewed once for several commands, and none of them makes the issuer withdraw it', async () => {
    expect(await tokensOf(4, [openSession, openSessionElsewhere])).toEqual(Array(4).fill('Bearer new'));

    expect([requested, accepted]).toEqual([1, 'first again']);
  });

  it('is said to have expired where the issuer does not renew it', async () => {
    accepted = 'another';

    await expect(tokensOf(2)).rejects.toMatchObject({ exitCode: ExitCode.NotAllowed });
  });
});
