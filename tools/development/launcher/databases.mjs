import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl, databaseVariable } from './environment.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { readJson, writeJson } from './json-file.mjs';
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
 * Those that it migrated before are left alone until a migration or the cluster is another one.
 * @param {object} options
 * @param {Service[]} options.services
 * @param {string | undefined} options.adminUrl
 * @param {Record<string, string>} options.urls
 * @param {import('./paths.mjs').Layout} options.layout
 * @param {import('./progress.mjs').Progress} options.progress
 * @param {import('./progress.mjs').Task} options.task
 */
export async function migrateDatabases({ services, adminUrl, urls, layout, progress, task }) {
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
  const record = join(layout.data, 'migrated.json');
  const wanted = { migrations: migrationsOf(own), cluster: clusterOf(layout) };
  const known = readJson(record, { migrations: '', cluster: '' });
  const isDone = known.migrations === wanted.migrations && known.cluster === wanted.cluster;
  const migrateOwn = async () => {
    if (known.cluster !== wanted.cluster) task.doing('making the databases (half a minute at most)');
    const changed = await migrate(own, { ...urls, MIGRATE_DATABASE_URL: adminUrl });
    writeJson(record, wanted);
    return changed;
  };
  const runs = [
    ...(own.length > 0 && !isDone ? [migrateOwn()] : []),
    ...(migratable.length > 0 ? [migrate(migratable, {})] : []),
  ];
  const changed = (await Promise.all(runs)).flat();
  if (changed.length === 0) return 'up to date';
  // The names of all of them would not fit on a line.
  return `migrated ${changed.length > 3 ? `${changed.length} of them` : changed.join(', ')}`;
}

/** What the databases of these services are made by. @param {Service[]} services */
function migrationsOf(services) {
  const libraries = readdirSync(join(root, 'libs')).map((name) => join('libs', name, 'migrations'));
  const own = services.map(({ name }) => join('apps', name, 'prisma'));
  const tools = ['tools/operations/migrate', 'tools/development/build/migration-files.ts'];
  return `${services.map(({ name }) => name).join()} ${fingerprintOf([...own, ...libraries, ...tools])}`;
}

/** Names the cluster that runs: a new one has files of its own. @param {import('./paths.mjs').Layout} layout */
function clusterOf(layout) {
  const file = join(layout.server('postgres'), 'PG_VERSION');
  if (!existsSync(file)) return 'none';
  const { ino, mtimeMs } = statSync(file);
  return `${ino} ${mtimeMs}`;
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
