import { hash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose';
import { API_KEY_PREFIX } from '@plinth/kernel/api-key';
import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import type { ApiKeys } from './api-keys';
import { readClaims } from './claims';
import { grantedPermissions, type RolePermissions } from './grants';
import type { Identity } from './identity';
import { isOfAnotherIssuer, type Issuer } from './issuers';
import { refusalOf, refusedCredential, type RefusalReason } from './refusal';

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
/** A token is verified again after this time, since its issuer may have withdrawn the key that signed it. */
const AGAIN_MILLISECONDS = 60_000;
const TOKEN_LENGTH_MAX = 12_000;
/** Of all tokens in the cache, so that neither many nor long ones fill the memory: 10,000 usual ones. */
const CACHE_LENGTH_MAX = 16_000_000;
/** Longer headers are found by their hash only, so that connections do not hold them. */
const LATEST_LENGTH_MAX = 4_000;

/** The `Authorization` headers of a request, and the connection that they came on. */
interface Authorization {
  headers: readonly string[];
  connection: object;
}

interface Verified {
  identity: Identity;
  validUntil: number;
  /** When it is verified again. */
  againAt: number;
  /** The verification that was begun then, until it ends. */
  again?: Promise<Identity> | undefined;
  /** Of the token, by which what is kept of it is measured. */
  length: number;
}

/**
 * Checks bearer tokens: signed by a trusted issuer with an asymmetric algorithm, for this audience, not expired.
 * A valid header is cached by its hash until its token expires. It is verified again from time to time, so that no token
 * outlives the key that signed it while its issuer responds: beside the requests of a token that is in use, and before
 * one of a token that was not. API keys come the same way.
 */
export class Credentials {
  private readonly verified = new Map<string, Verified>();
  private cachedLength = 0;
  /** Nearly every connection sends one header again and again, and to compare it is less work than its hash. */
  private readonly latest = new WeakMap<object, { header: string; fingerprint: string }>();

  constructor(
    private readonly issuers: readonly Issuer[],
    private readonly rolePermissions: RolePermissions,
    private readonly clock: Clock,
    /** Absent where the settings service is not installed. */
    private readonly apiKeys?: Pick<ApiKeys, 'identify'>,
  ) {}

  /**
   * Reads the `Authorization` headers of a request; undefined when there is none. `beforeUnknownKey` runs before an API
   * key is looked up that was not seen lately, and may refuse that.
   * @throws Problem `invalid-credential`, `identity-provider-unavailable`, or `overloaded`
   */
  identify(
    { headers, connection }: Authorization,
    beforeUnknownKey: () => Promise<void>,
  ): Identity | undefined | Promise<Identity> {
    const [header] = headers;
    if (header === undefined) return undefined;
    if (headers.length > 1) throw malformed('The Authorization header is repeated.');
    const latest = this.latest.get(connection);
    const isLatest = latest?.header === header;
    const fingerprint = isLatest ? latest.fingerprint : hash('sha256', header, 'base64');
    const verified = this.verified.get(fingerprint);
    if (verified && this.isValid(verified)) {
      if (!isLatest && header.length <= LATEST_LENGTH_MAX)
        this.latest.set(connection, { header, fingerprint });
      const sinceAgain = this.clock.now().getTime() - verified.againAt;
      if (sinceAgain < 0) return verified.identity;
      const again = (verified.again ??= this.verifyAgain(header, fingerprint, verified));
      if (sinceAgain >= AGAIN_MILLISECONDS) return again;
      again.catch(() => undefined);
      return verified.identity;
    }
    const token = bearerOf(header);
    if (token === undefined) throw malformed('The Authorization header must have the form "Bearer <token>".');
    if (token.length > TOKEN_LENGTH_MAX) throw malformed('The token is too long.');
    if (this.apiKeys && token.startsWith(API_KEY_PREFIX))
      return this.apiKeys.identify(token, beforeUnknownKey);
    return this.verify(token, fingerprint);
  }

  private isValid({ validUntil }: Verified): boolean {
    return validUntil > this.clock.now().getTime();
  }

  /** A token whose issuer does not respond goes on: only one that is refused is forgotten. */
  private async verifyAgain(header: string, fingerprint: string, verified: Verified): Promise<Identity> {
    try {
      return await this.verify(bearerOf(header)!, fingerprint);
    } catch (error) {
      if (refusalOf(error as Problem) !== undefined) {
        this.forget(fingerprint);
        throw error;
      }
      verified.againAt = this.clock.now().getTime() + AGAIN_MILLISECONDS;
      verified.again = undefined;
      return verified.identity;
    }
  }

  private async verify(token: string, fingerprint: string): Promise<Identity> {
    const { issuer, payload } = await this.verifiedToken(token);
    if (isIdToken(payload)) throw idTokenRefused();
    const identity = toIdentity(payload, issuer, this.rolePermissions);
    if (isOfAnotherIssuer(identity.userId, issuer, this.issuers))
      throw refusedCredential('claim', 'The issuer of the token is not trusted for its user.');
    const validUntil = identity.expiresAt + CLOCK_TOLERANCE_SECONDS * 1000;
    const againAt = this.clock.now().getTime() + AGAIN_MILLISECONDS;
    this.cache(fingerprint, { identity, validUntil, againAt, length: token.length });
    return identity;
  }

  private async verifiedToken(token: string): Promise<{ issuer: Issuer; payload: JWTPayload }> {
    try {
      if (!token.split('.').every(isCanonical)) throw malformed('The token is not valid.');
      const claimed = decodeJwt(token).iss;
      const issuer = this.issuers.find((known) => known.issuer === claimed);
      if (!issuer) throw refusedCredential('issuer', 'The issuer of the token is not trusted.');
      const { payload } = await jwtVerify(token, issuer.keys, {
        issuer: issuer.issuer,
        audience: issuer.audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: this.clock.now(),
        requiredClaims: ['iss', 'aud', 'exp', 'sub'],
      });
      return { issuer, payload };
    } catch (error) {
      if (error instanceof Problem) throw error;
      // It is issued for its client, not for the platform.
      if (error instanceof errors.JWTClaimValidationFailed && isIdToken(error.payload))
        throw idTokenRefused();
      throw refusedCredential(reasonOf(error), detailOf(error), error);
    }
  }

  /** The ones that were verified first leave where there is no room. */
  private cache(fingerprint: string, verified: Verified): void {
    this.cachedLength += verified.length - (this.verified.get(fingerprint)?.length ?? 0);
    this.verified.set(fingerprint, verified);
    for (const first of this.verified.keys()) {
      if (this.cachedLength <= CACHE_LENGTH_MAX) return;
      this.forget(first);
    }
  }

  private forget(fingerprint: string): void {
    this.cachedLength -= this.verified.get(fingerprint)?.length ?? 0;
    this.verified.delete(fingerprint);
  }
}

function toIdentity(payload: JWTPayload, issuer: Issuer, rolePermissions: RolePermissions): Identity {
  const claims = readClaims(payload, issuer.claims);
  const tenantId = claims.tenant ?? issuer.defaultTenant;
  if (tenantId === undefined)
    throw refusedCredential('tenant', `The claim ${issuer.claims.tenant[0]} is missing.`);
  if (issuer.tenants && ![tenantId, ...claims.tenants].every((id) => issuer.tenants!.includes(id)))
    throw refusedCredential('tenant', 'The issuer of the token is not trusted for its tenant.');
  return {
    userId: issuer.userPrefix + claims.user,
    userName: claims.name ?? claims.user,
    tenantId,
    tenants: claims.tenants,
    permissions: grantedPermissions(claims.roles, claims.permissions, rolePermissions),
    expiresAt: payload.exp! * 1000,
  };
}

const bearerOf = (header: string): string | undefined => /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1];

/** Base64 has spare bits at its end; a token that uses them is not the one that was signed. */
const isCanonical = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part;

/** Keycloak says in this claim what a token is for. */
const isIdToken = ({ typ }: JWTPayload): boolean => typeof typ === 'string' && typ.toUpperCase() === 'ID';

const idTokenRefused = () =>
  refusedCredential('id-token', 'An ID token is not a credential; send the access token.');

const malformed = (detail: string) => refusedCredential('malformed', detail);

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === 'aud' ? 'audience' : 'claim';
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-signing-key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  return 'malformed';
}

function detailOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `The claim ${error.claim} of the token is missing or not valid.`;
  return 'The token is not valid.';
}
