import { identifierOf, variableSuffix } from '../../development/launcher/services.mjs';
import { MigrationError } from './migration-error.ts';
import { databaseOf, withDatabase, type Access } from './migrate-service.ts';
import { textOf } from './text-of-variable.ts';

const POSTGRES_PORT = '5432';

/** How to reach a service's database as someone who may change it; each variable `X` may be `X_FILE`. */
export function accessFromEnvironment(service: string, env: NodeJS.ProcessEnv): Access {
  const suffix = variableSuffix(service);
  const appUrl = textOf(`DATABASE_URL_${suffix}`, env);
  if (appUrl === undefined) {
    throw new MigrationError(
      `DATABASE_URL_${suffix} is not set; it names the database and the role of the service`,
    );
  }
  const { username, password } = new URL(appUrl);
  const appRole = decodeURIComponent(username);

  const ownerUrl = textOf(`MIGRATE_DATABASE_URL_${suffix}`, env);
  if (ownerUrl !== undefined) return { kind: 'owner', url: ownerUrl, appRole };

  const adminUrl = textOf('MIGRATE_DATABASE_URL', env);
  if (adminUrl === undefined) {
    throw new MigrationError(
      `neither MIGRATE_DATABASE_URL (may create databases and roles) nor MIGRATE_DATABASE_URL_${suffix} (owns the database) is set`,
    );
  }
  const ownerRole = `plinth_${identifierOf(service)}_owner`;
  const plan = {
    database: databaseOf(appUrl),
    ownerRole,
    appRole,
    appPassword: decodeURIComponent(password),
  };
  return { kind: 'admin', url: adminUrl, plan };
}

/**
 * A service's database as somebody who reads or replaces all that is in it, for tools that must not take another database for
 * the service's.
 * @throws MigrationError also where the administrator's connection leads to another server than the service's
 */
export function databaseFromEnvironment(service: string, env: NodeJS.ProcessEnv): string {
  const access = accessFromEnvironment(service, env);
  if (access.kind === 'owner') return access.url;
  const suffix = variableSuffix(service);
  const [own, admin] = [textOf(`DATABASE_URL_${suffix}`, env)!, access.url].map(serverOf);
  if (own !== admin) {
    throw new MigrationError(
      `DATABASE_URL_${suffix} leads to ${own} and MIGRATE_DATABASE_URL to ${admin}, where the database of ${service} may be another one: set MIGRATE_DATABASE_URL_${suffix} to this database, as a role that may read all of it`,
    );
  }
  return withDatabase(access.url, access.plan.database);
}

function serverOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || POSTGRES_PORT}`;
}
