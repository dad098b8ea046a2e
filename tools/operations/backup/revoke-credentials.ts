import type { Client } from 'pg';
import { connected } from '../migrate/migrate-service.ts';

/** Who revoked a key, as its tenant is shown. */
const RESTORE = 'restore';

interface Credential {
  tenantId: string;
  id: string;
  createdBy: string;
}

/**
 * A restored database does not know what was revoked after its moment, so whatever gives rights in it may be in the hands of
 * somebody who was found out since. Row-level security hides these rows from owners and from administrators who do not bypass
 * it, and an older version has no policy for them.
 */
const revocations: Record<string, { kind: string; table: string; statement: string; did: string }> = {
  settings: {
    kind: 'API key',
    table: 'api_key',
    statement: `UPDATE api_key SET revoked_at = now(), revoked_by = '${RESTORE}'
      WHERE revoked_at IS NULL AND expires_at > now()
      RETURNING tenant_id AS "tenantId", id, created_by AS "createdBy"`,
    did: 'revoked',
  },
  workflow: {
    kind: 'delegation',
    table: 'delegation',
    statement: `DELETE FROM delegation WHERE until_at > now()
      RETURNING tenant_id AS "tenantId", id, delegator_id AS "createdBy"`,
    did: 'removed',
  },
};

/**
 * Revokes every API key that is in use and removes the delegations that are not over, of all tenants. No service may run.
 * @param url of an administrator, or of the owner
 * @returns a line for each, and one for how many there were; none for a service that has no credentials
 */
export async function revokeCredentials(service: string, url: string): Promise<string[]> {
  const revocation = revocations[service];
  if (!revocation) return [];
  const { kind, table, statement, did } = revocation;
  const revoked = await connected(url, (client) => withoutRowSecurity(client, table, statement));
  const lines = revoked.map(
    ({ tenantId, id, createdBy }) =>
      `${service}: ${kind} ${id} of tenant ${tenantId}, by ${JSON.stringify(createdBy)}: ${did}`,
  );
  return [...lines, `${service}: ${kind}s ${did}: ${revoked.length}`];
}

/** Nobody else sees the table meanwhile, and a statement that fails leaves it as it was. */
async function withoutRowSecurity(client: Client, table: string, statement: string): Promise<Credential[]> {
  await client.query('BEGIN');
  await client.query(`ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`);
  const { rows } = await client.query<Credential>(statement);
  await client.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
  await client.query('COMMIT');
  return rows;
}
