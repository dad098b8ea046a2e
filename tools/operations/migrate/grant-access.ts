import { escapeIdentifier, type Client } from 'pg';

/**
 * Gives the service's role the rows of all tables, those of future migrations included, and nothing else. Tables
 * that exist are granted only the first time: a migration may take a right away (an append-only table), and that
 * must last.
 */
export async function grantAccess(client: Client, database: string, appRole: string): Promise<void> {
  const role = escapeIdentifier(appRole);
  await client.query(`GRANT CONNECT ON DATABASE ${escapeIdentifier(database)} TO ${role}`);
  if (await hasDefaultPrivileges(client, appRole)) return;
  await client.query(`
    GRANT USAGE ON SCHEMA public TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO ${role};`);
}

/** The bookkeeping of migrations may be read by the service, never written. */
export async function protectBookkeeping(client: Client, appRole: string): Promise<void> {
  await client.query(`REVOKE INSERT, UPDATE, DELETE ON _prisma_migrations FROM ${escapeIdentifier(appRole)}`);
}

async function hasDefaultPrivileges(client: Client, appRole: string) {
  const { rowCount } = await client.query(
    `SELECT FROM pg_default_acl, aclexplode(defaclacl) AS acl
      WHERE defaclrole = current_user::regrole AND defaclobjtype = 'r' AND acl.grantee = $1::regrole`,
    [escapeIdentifier(appRole)],
  );
  return rowCount !== 0;
}
