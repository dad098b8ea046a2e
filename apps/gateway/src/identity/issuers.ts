import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { ConfiguredClaimNames, defaultClaimNames, type ClaimNames } from './claims';

const tenantId = z.guid().toLowerCase();

/** An issuer as the configuration describes it; what it leaves out is that of OIDC_AUDIENCE, OIDC_CLAIMS and OIDC_DEFAULT_TENANT. */
export const IssuerSettings = z.strictObject({
  /** Exactly as in `iss`. */
  issuer: z.string().min(1),
  jwksUrl: z.url(),
  audience: z.string().optional(),
  claims: ConfiguredClaimNames.optional(),
  defaultTenant: tenantId.optional(),
  /** The only tenants for which it issues tokens; all where it is left out. */
  tenants: z.array(tenantId).optional(),
  /** Put before its user ids, so that they are none of another issuer. */
  userPrefix: z.string().max(50).default(''),
});
export type IssuerSettings = z.output<typeof IssuerSettings>;

/** An issuer whose tokens are accepted. */
export interface Issuer {
  issuer: string;
  audience: string;
  keys: JWTVerifyGetKey;
  claims: ClaimNames;
  defaultTenant?: string | undefined;
  tenants?: readonly string[] | undefined;
  userPrefix: string;
}

type Users = Pick<Issuer, 'issuer' | 'tenants' | 'userPrefix'>;

/** Issuers of which one could name the users of the other: they meet in a tenant, and nothing keeps their ids apart. */
export const issuersWithSharedUsers = <One extends Users>(issuers: readonly One[]): [One, One][] =>
  issuers.flatMap((issuer, index) =>
    issuers
      .slice(0, index)
      .filter((other) => other.userPrefix === issuer.userPrefix && doMeet(other, issuer))
      .map((other): [One, One] => [other, issuer]),
  );

/** Whether a user id of this issuer is in the space of another one that has a longer prefix. */
export const isOfAnotherIssuer = (userId: string, issuer: Users, issuers: readonly Users[]): boolean =>
  issuers.some(
    ({ userPrefix }) => userPrefix.length > issuer.userPrefix.length && userId.startsWith(userPrefix),
  );

/** People of the host tenant may act in every tenant. */
const doMeet = (one: Users, other: Users): boolean =>
  [one, other].some(({ tenants }) => !tenants || tenants.includes(HOST_TENANT_ID)) ||
  one.tenants!.some((id) => other.tenants!.includes(id));

interface IssuerConfig {
  OIDC_ISSUER?: string | undefined;
  OIDC_JWKS_URL?: string | undefined;
  OIDC_AUDIENCE: string;
  OIDC_CLAIMS: z.output<typeof ConfiguredClaimNames>;
  OIDC_DEFAULT_TENANT?: string | undefined;
  OIDC_ISSUERS: readonly IssuerSettings[];
}

/** Every issuer of the configuration, with what it leaves out; its keys are at the address. */
export function configuredIssuers(config: IssuerConfig): (Omit<Issuer, 'keys'> & { jwksUrl: string })[] {
  const { OIDC_ISSUER: issuer, OIDC_JWKS_URL: jwksUrl, OIDC_DEFAULT_TENANT: defaultTenant } = config;
  const first: IssuerSettings[] = issuer && jwksUrl ? [{ issuer, jwksUrl, userPrefix: '' }] : [];
  return [...first, ...config.OIDC_ISSUERS].map((settings) => ({
    defaultTenant,
    ...settings,
    audience: settings.audience ?? config.OIDC_AUDIENCE,
    claims: { ...defaultClaimNames, ...config.OIDC_CLAIMS, ...settings.claims } as ClaimNames,
  }));
}
