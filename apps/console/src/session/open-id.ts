import * as oauth from 'oauth4webapi';
import type { Configuration } from '../api/platform';
import type { Session } from './stored-session';

type OpenId = NonNullable<Configuration['openId']>;

/** What the window remembers while the person is at the identity provider. */
interface PendingSignIn extends SignInTarget {
  verifier: string;
  state: string;
}

/** What signing in is for. */
export interface SignInTarget {
  /** Where the person wants to be afterwards. */
  from: string;
  /** The channel on which another window waits for the session. */
  channel?: string | undefined;
}

const PENDING_KEY = 'plinth-sign-in';
const redirectUri = () => `${location.origin}/console/signed-in`;

/** Sends the person to the identity provider. */
export async function startSignIn(openId: OpenId, target: SignInTarget): Promise<void> {
  const server = await discover(openId);
  if (!server.authorization_endpoint)
    throw new Error('The identity provider names no authorization endpoint.');
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint);
  const parameters = {
    ...openId.parameters,
    client_id: openId.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: openId.scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const pending: PendingSignIn = { ...target, verifier, state };
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending));
  location.assign(address);
}

/**
 * Exchanges the code in the address for a token.
 * @returns what it was for also where the provider gave none, so that it can be begun again
 */
export async function finishSignIn(
  openId: OpenId,
  address: URL,
): Promise<SignInTarget & { session: Session | undefined }> {
  const text = sessionStorage.getItem(PENDING_KEY);
  if (text === null) throw new Error('This window did not begin to sign in.');
  sessionStorage.removeItem(PENDING_KEY);
  const { verifier, state, ...target } = JSON.parse(text) as PendingSignIn;
  const session = await sessionOf(openId, address, { verifier, state }).catch(() => undefined);
  return { session, ...target };
}

async function sessionOf(
  openId: OpenId,
  address: URL,
  { verifier, state }: Pick<PendingSignIn, 'verifier' | 'state'>,
): Promise<Session> {
  const server = await discover(openId);
  const client = { client_id: openId.clientId };
  const parameters = oauth.validateAuthResponse(server, client, address, state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    { ...insecureWhereAllowed(openId), additionalParameters: openId.parameters },
  );
  const result = await oauth.processAuthorizationCodeResponse(server, client, response);
  const seconds = result.expires_in ?? DEFAULT_LIFETIME_SECONDS;
  const expiresAt = Date.now() + seconds * 1_000;
  return { token: result.access_token, expiresAt, idToken: result.id_token };
}

/**
 * Ends the session at the identity provider too, which would otherwise let in whoever comes next; it sends the person
 * back to the console. A provider that has no such page is left as it is.
 */
export async function signOutAtProvider(openId: OpenId, idToken: string): Promise<void> {
  const server = await discover(openId);
  if (!server.end_session_endpoint) return;
  const address = new URL(server.end_session_endpoint);
  address.searchParams.set('client_id', openId.clientId);
  address.searchParams.set('id_token_hint', idToken);
  address.searchParams.set('post_logout_redirect_uri', `${location.origin}/console`);
  location.assign(address);
}

/** A provider that does not say how long a token is valid gets a new request when the platform refuses it. */
const DEFAULT_LIFETIME_SECONDS = 300;

async function discover(openId: OpenId): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(openId.issuer);
  const response = await oauth.discoveryRequest(issuer, insecureWhereAllowed(openId));
  return oauth.processDiscoveryResponse(issuer, response);
}

/** The gateway accepts an issuer without TLS in development only. */
const insecureWhereAllowed = ({ issuer }: OpenId) => ({
  [oauth.allowInsecureRequests]: issuer.startsWith('http://'),
});
