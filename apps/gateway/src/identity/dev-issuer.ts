import { createECDH, hash, randomBytes } from 'node:crypto';
import { createLocalJWKSet, importJWK, SignJWT, type JSONWebKeySet, type JWK } from 'jose';
import { z } from 'zod';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { defaultClaimNames } from './claims';
import type { Issuer } from './issuers';

const ISSUER = 'urn:plinth:dev-issuer';
const ALGORITHM = 'ES256';
const VALID_SECONDS = 12 * 3600;

/** Body of `POST /dev/token`. A negative lifetime makes an expired token, for tests. */
export const DevTokenRequest = z
  .object({
    sub: z.string().min(1).max(255),
    name: z.string().max(255).optional(),
    tenantId: z.guid().optional(),
    tenants: z.array(z.guid()).optional(),
    roles: z.array(z.string().max(255)).optional(),
    permissions: z.array(z.string().max(255)).optional(),
    expiresInSeconds: z.int().min(-86_400).max(31_536_000).optional(),
  })
  .meta({ id: 'DevTokenRequest' });

export const DevToken = z
  .object({ accessToken: z.string(), tokenType: z.literal('Bearer'), expiresIn: z.int() })
  .meta({ id: 'DevToken' });

/** Issues tokens to every client, in development. */
export interface DevIssuer extends Issuer {
  /** The public keys. */
  jwks: JSONWebKeySet;
  issue(request: z.infer<typeof DevTokenRequest>): Promise<z.infer<typeof DevToken>>;
}

/** The same seed makes the same key, so that tokens outlive a restart and all gateways agree. */
export async function createDevIssuer(seed: string, audience: string, clock: Clock): Promise<DevIssuer> {
  const { privateJwk, publicJwk } = keyPair(seed);
  const key = await importJWK(privateJwk, ALGORITHM);
  const jwks = { keys: [publicJwk] };

  return {
    issuer: ISSUER,
    audience,
    keys: createLocalJWKSet(jwks),
    claims: defaultClaimNames,
    userPrefix: '',
    jwks,
    async issue({ sub, name, tenantId, tenants, roles, permissions, expiresInSeconds = VALID_SECONDS }) {
      const issuedAt = Math.floor(clock.now().getTime() / 1000);
      const accessToken = await new SignJWT({
        name: name ?? sub,
        tenant_id: tenantId ?? HOST_TENANT_ID,
        tenants,
        roles,
        permissions,
      })
        .setProtectedHeader({ alg: ALGORITHM, kid: publicJwk.kid!, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience(audience)
        .setSubject(sub)
        .setIssuedAt(Math.min(issuedAt, issuedAt + expiresInSeconds))
        .setExpirationTime(issuedAt + expiresInSeconds)
        .sign(key);
      return { accessToken, tokenType: 'Bearer', expiresIn: expiresInSeconds };
    },
  };
}

/** A seed that cannot be guessed. */
export const randomSeed = (): string => randomBytes(32).toString('base64url');

function keyPair(seed: string): { privateJwk: JWK; publicJwk: JWK } {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(hash('sha256', `plinth dev issuer ${seed}`, 'buffer'));
  const point = curve.getPublicKey();
  const publicJwk: JWK = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33, 65).toString('base64url'),
    alg: ALGORITHM,
    use: 'sig',
    kid: hash('sha256', point, 'base64url').slice(0, 16),
  };
  return { privateJwk: { ...publicJwk, d: curve.getPrivateKey().toString('base64url') }, publicJwk };
}
