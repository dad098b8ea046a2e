import { identifierOf, variableSuffix } from '../../development/launcher/services.mjs';
import { MigrationError } from './migration-error.ts';
import { databaseOf, type Access } from './migrate-service.ts';
import { textOf } from './text-of-variable.ts';

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
