import { databaseUrl, databaseVariable } from './environment.mjs';
import { projectNode, root } from './paths.mjs';
import { run } from './run.mjs';
import { variableSuffix } from './services.mjs';

/** @typedef {import('./services.mjs').Service} Service */

/** The services whose database this launcher has to provide. @param {Service[]} services */
export function withoutConfiguredDatabase(services) {
  return services.filter(
    ({ name, hasDatabase }) => hasDatabase && process.env[databaseVariable(name)] === undefined,
  );
}

/**
 * The addresses of the databases on the launcher's own PostgreSQL, by variable.
 * @param {Service[]} services
 * @param {string | undefined} adminUrl
 * @param {import('./secrets.mjs').Secrets} secrets
 */
export function databaseUrls(services, adminUrl, secrets) {
  if (adminUrl === undefined) return {};
  const own = withoutConfiguredDatabase(services);
  return Object.fromEntries(
    own.map(({ name }) => [databaseVariable(name), databaseUrl(name, adminUrl, secrets)]),
  );
}

/**
 * Migrates the launcher's own databases, and configured ones where the environment names their owner.
 * @param {object} options
 * @param {Service[]} options.services
 * @param {string | undefined} options.adminUrl
 * @param {Record<string, string>} options.urls
 * @param {import('./progress.mjs').Progress} options.progress
 */
export async function migrateDatabases({ services, adminUrl, urls, progress }) {
  const own = withoutConfiguredDatabase(services);
  const configured = services.filter(
    ({ name, hasDatabase }) => hasDatabase && !own.some((one) => one.name === name),
  );
  const migratable = configured.filter(
    ({ name }) =>
      process.env.MIGRATE_DATABASE_URL !== undefined ||
      process.env[`MIGRATE_DATABASE_URL_${variableSuffix(name)}`] !== undefined,
  );
  for (const { name } of configured.filter((service) => !migratable.includes(service))) {
    progress.info(
      'databases',
      `${name} is configured without MIGRATE_DATABASE_URL_${variableSuffix(name)}: not migrated`,
    );
  }
  const runs = [
    ...(own.length > 0 ? [migrate(own, { ...urls, MIGRATE_DATABASE_URL: adminUrl })] : []),
    ...(migratable.length > 0 ? [migrate(migratable, {})] : []),
  ];
  const changed = (await Promise.all(runs)).flat();
  return changed.length === 0 ? 'up to date' : `migrated ${changed.join(', ')}`;
}

/** @param {Service[]} services @param {Record<string, string | undefined>} env @returns {Promise<string[]>} */
async function migrate(services, env) {
  const names = services.map(({ name }) => name);
  const output = await run(projectNode(), ['tools/operations/migrate/migrate.ts', ...names], {
    name: 'migrate',
    cwd: root,
    env: { ...process.env, ...env },
  });
  return names.filter((name) => !output.includes(`${name}: up to date`));
}
