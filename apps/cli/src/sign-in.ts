import { platformEndpoints } from '@plinth/contracts/platform/endpoints';
import { createClient } from '@plinth/sdk/client';
import * as oauth from 'oauth4webapi';
import type { StoredCredential } from './credentials';
import { CommandError, ExitCode } from './exit-codes';

/** The endpoints of the gateway itself. */
export const gatewayClient = (baseUrl: string, token?: string | (() => Promise<string>), tenantId?: string) =>
  createClient(platformEndpoints, {
    baseUrl,
    prefix: '',
    ...(token === undefined ? {} : { token }),
    ...(tenantId === undefined ? {} : { tenantId }),
  });

export interface DeviceSignIn {
  clientId: string;
  scope?: string;
  /** By default the one that the platform names. */
  issuer?: string;
  /** Shows the person where to enter which code. */
  onCode: (address: string, code: string) => void;
}

/** Signs a person in by the device flow (RFC 8628): they confirm a code in a browser, on whatever device. */
export async function signInByDevice(url: string, options: DeviceSignIn): Promise<StoredCredential> {
  const { openId } = (await gatewayClient(url).getConsoleConfiguration()).body;
  const issuer = options.issuer ?? openId?.issuer;
  if (issuer === undefined)
    throw new CommandError('This platform names no issuer; sign in with --development, or set PLINTH_TOKEN.');
  const server = await discover(issuer);
  const client = { client_id: options.clientId };
  const insecure = insecureFor(issuer);
  const begun = await oauth.deviceAuthorizationRequest(
    server,
    client,
    oauth.None(),
    { ...openId?.parameters, scope: options.scope ?? openId?.scope ?? 'openid profile' },
    insecure,
  );
  const device = await oauth.processDeviceAuthorizationResponse(server, client, begun);
  options.onCode(device.verification_uri_complete ?? device.verification_uri, device.user_code);
  const until = Date.now() + device.expires_in * 1_000;
  let pauseSeconds = device.interval ?? 5;
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pauseSeconds * 1_000));
    const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), device.device_code, {
      ...insecure,
      additionalParameters: openId?.parameters ?? {},
    });
    try {
      const tokens = await oauth.processDeviceCodeResponse(server, client, response);
      return { ...credentialOf(tokens), issuer, clientId: options.clientId };
    } catch (error) {
      if (!(error instanceof oauth.ResponseBodyError)) throw error;
      if (error.error === 'slow_down') pauseSeconds += 5;
      else if (error.error !== 'authorization_pending')
        throw new CommandError(`The sign-in was refused: ${error.error}.`, ExitCode.NotAllowed);
    }
  }
  throw new CommandError('The code has expired; sign in again.', ExitCode.NotAllowed);
}

/** Both requests of a renewal: other programs wait for it, and not for longer than that. */
const RENEWAL_MILLISECONDS_MAX = 20_000;

/** A new token for a credential that has expired; undefined where the issuer gives none. */
export async function refresh(credential: StoredCredential): Promise<StoredCredential | undefined> {
  const { issuer, clientId, refreshToken } = credential;
  if (issuer === undefined || clientId === undefined || refreshToken === undefined) return undefined;
  const options = { ...insecureFor(issuer), signal: AbortSignal.timeout(RENEWAL_MILLISECONDS_MAX) };
  const client = { client_id: clientId };
  try {
    const server = await discover(issuer, options);
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refreshToken,
      options,
    );
    const tokens = await oauth.processRefreshTokenResponse(server, client, response);
    return { ...credential, ...credentialOf(tokens) };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) return undefined;
    if (options.signal.aborted)
      throw new CommandError(`The issuer ${issuer} does not respond.`, ExitCode.Unavailable);
    throw error;
  }
}

/** A token of the development issuer, which exists on developers' machines only. */
export async function signInForDevelopment(url: string, claims: object): Promise<StoredCredential> {
  const response = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(claims),
  });
  if (response.status === 404) throw new CommandError('This platform issues no development tokens.');
  const body = (await response.json()) as { accessToken: string; expiresIn: number; detail: string };
  if (!response.ok) throw new CommandError(body.detail, ExitCode.Refused);
  return { accessToken: body.accessToken, expiresAt: Date.now() + body.expiresIn * 1_000 };
}

const DEFAULT_LIFETIME_SECONDS = 300;

const credentialOf = ({ access_token, refresh_token, expires_in }: oauth.TokenEndpointResponse) => ({
  accessToken: access_token,
  ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
  expiresAt: Date.now() + (expires_in ?? DEFAULT_LIFETIME_SECONDS) * 1_000,
});

async function discover(
  address: string,
  options: oauth.DiscoveryRequestOptions = insecureFor(address),
): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(address);
  const response = await oauth.discoveryRequest(issuer, options);
  return oauth.processDiscoveryResponse(issuer, response);
}

/** The platform accepts an issuer without TLS in development only. */
const insecureFor = (issuer: string) => ({ [oauth.allowInsecureRequests]: issuer.startsWith('http://') });
