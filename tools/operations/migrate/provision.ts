import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { MigrationError } from './migration-error.ts';

/** Serialises the creation of roles and databases on one server. */
const advisoryLock = 72_707_370;

export type Plan = {
  readonly database: string;
  readonly ownerRole: string;
  readonly appRole: string;
  readonly appPassword: string;
};

/** Makes sure, through a connection that may create them, that the roles and the database exist. */
export async function provision(admin: Client, plan: Plan): Promise<void> {
  await admin.query('SELECT pg_advisory_lock($1)', [advisoryLock]);
  try {
    await createOwner(admin, plan);
    await createAppRole(admin, plan);
    await createDatabase(admin, plan);
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [advisoryLock]);
  }
}

async function createOwner(admin: Client, { ownerRole }: Plan) {
  if (await roleExists(admin, ownerRole)) return;
  const role = escapeIdentifier(ownerRole);
  // Several statements in one message are one transaction: there is no role that its administrator may not use.
  await admin.query(`CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO CURRENT_USER`);
}

async function createAppRole(admin: Client, { appRole, appPassword }: Plan) {
  const role = escapeIdentifier(appRole);
  const password = appPassword === '' ? 'NULL' : escapeLiteral(appPassword);
  if (await roleExists(admin, appRole)) await admin.query(`ALTER ROLE ${role} PASSWORD ${password}`);
  else await admin.query(`CREATE ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT PASSWORD ${password}`);
}

async function createDatabase(admin: Client, { database, ownerRole }: Plan) {
  const { rows } = await admin.query<{ isUnfinished: boolean }>(
    `SELECT datacl IS NULL AND pg_get_userbyid(datdba) = $2 AS "isUnfinished" FROM pg_database WHERE datname = $1`,
    [database, ownerRole],
  );
  const [found] = rows;
  const name = escapeIdentifier(database);
  if (!found) {
    await admin.query(
      `CREATE DATABASE ${name} OWNER ${escapeIdentifier(ownerRole)} TEMPLATE template0 ENCODING 'UTF8' ${await localeClause(admin)}`,
    );
  }
  // Who created it may have been ended before this, which cannot be in one transaction.
  if (!found || found.isUnfinished) await admin.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
}

/** The same order of texts on every server: by code point. */
async function localeClause(admin: Client) {
  const { rows } = await admin.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  return (rows[0]?.version ?? 0) >= 170_000
    ? "LOCALE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"
    : '';
}

async function roleExists(admin: Client, role: string) {
  const { rowCount } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  return rowCount !== 0;
}

/** Row-level security is worth nothing for a role that may step around it. */
export async function refusePowerfulAppRole(client: Client, appRole: string): Promise<void> {
  const { rows } = await client.query<{ rolsuper: boolean; rolbypassrls: boolean; owns: boolean }>(
    `SELECT rolsuper, rolbypassrls,
            EXISTS (SELECT FROM pg_class WHERE relowner = r.oid AND relkind IN ('r', 'p')) AS owns
       FROM pg_roles r WHERE rolname = $1`,
    [appRole],
  );
  const role = rows[0];
  if (role === undefined) throw new MigrationError(`the role ${appRole} of the service does not exist`);
  if (role.rolsuper || role.rolbypassrls || role.owns) {
    throw new MigrationError(
      `the role ${appRole} must not be a superuser, bypass row-level security or own tables: give the service a role of its own`,
    );
  }
}
