import type { Configuration } from './document';

type OpenId = NonNullable<Configuration['openId']>;

/** The scheme by which Scalar signs people in: authorization code with PKCE, in a window of its own. */
export async function signInScheme({ issuer, clientId, scope, parameters }: OpenId): Promise<object> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error(`The issuer answers with ${response.status}.`);
  const server = (await response.json()) as Record<'authorization_endpoint' | 'token_endpoint', string>;
  const scopes = scope.split(' ');
  return {
    type: 'oauth2',
    description: `Sign in at ${issuer}.`,
    flows: {
      authorizationCode: {
        authorizationUrl: server.authorization_endpoint,
        tokenUrl: server.token_endpoint,
        scopes: Object.fromEntries(scopes.map((name) => [name, ''])),
        selectedScopes: scopes,
        'x-scalar-client-id': clientId,
        'x-scalar-redirect-uri': `${location.origin}/docs/signed-in`,
        'x-scalar-security-query': parameters,
        'x-scalar-security-body': parameters,
        // A public client proves itself by PKCE and has no secret.
        'x-scalar-credentials-location': 'body',
        'x-usePkce': 'SHA-256',
      },
    },
  };
}
