import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { isUnstorable } from '@plinth/kernel/text';
import { refusedCredential } from './refusal';

const names = z.union([z.string().transform((name) => [name]), z.array(z.string()).min(1)]).optional();

/**
 * Under which claims an issuer says what. Each is a name, or several: the first one that a token has counts, and of
 * lists all together. A dot leads into a claim: `resource_access.plinth.roles`.
 */
export const ConfiguredClaimNames = z.strictObject({
  user: names,
  name: names,
  tenant: names,
  tenants: names,
  roles: names,
  permissions: names,
});

export type ClaimNames = Readonly<Record<keyof z.output<typeof ConfiguredClaimNames>, readonly string[]>>;

export const defaultClaimNames: ClaimNames = {
  user: ['sub'],
  name: ['name', 'preferred_username'],
  tenant: ['tenant_id'],
  tenants: ['tenants'],
  roles: ['roles', 'realm_access.roles'],
  permissions: ['permissions'],
};

const storable = z
  .string()
  .max(255)
  .refine((text) => !isUnstorable(text));
const guid = z.guid().toLowerCase();

/** What a token says about its user; other claims are ignored. */
export interface TokenClaims {
  user: string;
  name: string | undefined;
  tenant: string | undefined;
  tenants: string[];
  roles: string[];
  permissions: string[];
}

/** Reads the claims of a verified token. @throws Problem `invalid-credential` naming the claim that is not valid */
export function readClaims(payload: JWTPayload, names: ClaimNames): TokenClaims {
  const first = <Value>(of: readonly string[], schema: z.ZodType<Value>): Value | undefined =>
    valuesOf(payload, of, schema)[0];
  const user = first(names.user, storable.min(1));
  if (user === undefined) throw notValid(names.user[0]!);
  return {
    user,
    name: valuesOf(payload, names.name, storable).find((name) => name.trim() !== ''),
    tenant: first(names.tenant, guid),
    tenants: valuesOf(payload, names.tenants, z.array(guid)).flat(),
    roles: valuesOf(payload, names.roles, z.array(storable)).flat(),
    permissions: valuesOf(payload, names.permissions, z.array(storable)).flat(),
  };
}

function valuesOf<Value>(payload: JWTPayload, names: readonly string[], schema: z.ZodType<Value>): Value[] {
  return names.flatMap((name) => {
    const value = claimOf(payload, name);
    // Providers write null where a person has no such attribute.
    if (value === undefined || value === null) return [];
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw notValid(name);
    return [parsed.data];
  });
}

/** A claim by its name, which may have dots in it, or else by the path that its dots make. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name.split('.').reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null;
    return isObject && Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : undefined;
  }, payload);
}

const notValid = (name: string) => refusedCredential('claim', `The claim ${name} is missing or not valid.`);
