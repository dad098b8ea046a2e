import { hash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import { isUnstorable } from '@plinth/kernel/text';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { grantedPermissions, type RolePermissions } from './grants';

/** The user of a credential, before a tenant is chosen. */
export interface Identity {
  userId: string;
  userName: string;
  /** The tenant of the token. */
  tenantId: string;
  /** Other tenants that the token allows. */
  tenants: readonly string[];
  permissions: readonly string[];
  /** When the token expires, in milliseconds since 1970. */
  expiresAt: number;
}

/** An issuer whose tokens are accepted. */
export interface Issuer {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
}

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_SECONDS = 60;
const TOKEN_LENGTH_MAX = 12_000;
const CACHE_SIZE_MAX = 10_000;

const storable = z
  .string()
  .max(255)
  .refine((text) => !isUnstorable(text));
const strings = z.array(storable);

/** The claims that are read; others are ignored. */
const Claims = z.object({
  sub: storable.min(1),
  exp: z.number(),
  name: storable.optional(),
  tenant_id: z.guid().toLowerCase().optional(),
  tenants: z.array(z.guid().toLowerCase()).optional(),
  roles: strings.optional(),
  realm_access: z.object({ roles: strings.optional() }).optional(),
  permissions: strings.optional(),
  /** Keycloak says here what a token is for. */
  typ: z.string().optional(),
});

/**
 * Checks bearer tokens: signed by a trusted issuer with an asymmetric algorithm, for this audience, not expired.
 * A valid header is cached by its hash until its token expires, so that it is verified once.
 */
export class Credentials {
  private readonly verified = new Map<string, { identity: Identity; validUntil: number }>();

  constructor(
    private readonly issuers: readonly Issuer[],
    private readonly rolePermissions: RolePermissions,
    private readonly clock: Clock,
    /** The tenant of tokens that name none; without it they are refused. */
    private readonly defaultTenantId?: string,
  ) {}

  /**
   * Reads the `Authorization` headers of a request; undefined when there is none.
   * @throws Problem `invalid-credential`, or `identity-provider-unavailable`.
   */
  identify(authorization: readonly string[]): Identity | undefined | Promise<Identity> {
    if (authorization.length === 0) return undefined;
    if (authorization.length > 1) throw invalidCredential('The Authorization header is repeated.');
    const fingerprint = hash('sha256', authorization[0]!, 'base64');
    const cached = this.verified.get(fingerprint);
    if (cached && cached.validUntil > this.clock.now().getTime()) return cached.identity;
    const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization[0]!) ?? [];
    if (token === undefined)
      throw invalidCredential('The Authorization header must have the form "Bearer <token>".');
    if (token.length > TOKEN_LENGTH_MAX) throw invalidCredential('The token is too long.');
    return this.verify(token, fingerprint);
  }

  private async verify(token: string, fingerprint: string): Promise<Identity> {
    const claims = Claims.safeParse(await this.verifiedPayload(token));
    if (!claims.success)
      throw invalidCredential(`The claim ${claims.error.issues[0]?.path.join('.')} is missing or not valid.`);
    if (claims.data.typ?.toUpperCase() === 'ID')
      throw invalidCredential('An ID token is not a credential; send the access token.');
    const tenantId = claims.data.tenant_id ?? this.defaultTenantId;
    if (tenantId === undefined) throw invalidCredential('The claim tenant_id is missing.');
    const identity = toIdentity(claims.data, tenantId, this.rolePermissions);
    this.cache(fingerprint, identity, (claims.data.exp + CLOCK_TOLERANCE_SECONDS) * 1000);
    return identity;
  }

  private async verifiedPayload(token: string): Promise<JWTPayload> {
    try {
      if (!token.split('.').every(isCanonical)) throw invalidCredential('The token is not valid.');
      const claimed = decodeJwt(token).iss;
      const issuer = this.issuers.find((known) => known.issuer === claimed);
      if (!issuer) throw invalidCredential('The issuer of the token is not trusted.');
      const { payload } = await jwtVerify(token, issuer.keys, {
        issuer: issuer.issuer,
        audience: issuer.audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: this.clock.now(),
        requiredClaims: ['iss', 'aud', 'exp', 'sub'],
      });
      return payload;
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw invalidCredential(reasonOf(error), error);
    }
  }

  private cache(fingerprint: string, identity: Identity, validUntil: number): void {
    if (this.verified.size >= CACHE_SIZE_MAX) this.verified.delete(this.verified.keys().next().value!);
    this.verified.set(fingerprint, { identity, validUntil });
  }
}

function toIdentity(
  claims: z.infer<typeof Claims>,
  tenantId: string,
  rolePermissions: RolePermissions,
): Identity {
  const roles = [...(claims.roles ?? []), ...(claims.realm_access?.roles ?? [])];
  return {
    userId: claims.sub,
    userName: claims.name ?? claims.sub,
    tenantId,
    tenants: claims.tenants ?? [],
    permissions: grantedPermissions(roles, claims.permissions ?? [], rolePermissions),
    expiresAt: claims.exp * 1000,
  };
}

/** Base64 has spare bits at its end; a token that uses them is not the one that was signed. */
const isCanonical = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part;

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `The claim ${error.claim} of the token is missing or not valid.`;
  return 'The token is not valid.';
}

/** The problem of a request whose credential is missing or not valid. */
export const invalidCredential = (detail: string, cause?: unknown): Problem =>
  platformProblems['invalid-credential'](detail, { cause });
