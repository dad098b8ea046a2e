import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';
import { LauncherError } from './run.mjs';

/**
 * @typedef {object} Service
 * @property {string} name the name of its folder
 * @property {string} directory
 * @property {boolean} hasMain false while only its tables exist
 * @property {boolean} hasHttp false for a process that only other services call
 * @property {string | undefined} serves the service that such a process works for
 * @property {boolean} hasWorker
 * @property {boolean} hasDatabase
 * @property {boolean} usesTemporal
 */

/**
 * Every folder of `apps/` with a process or a database. Nothing is listed by hand: a team adds a service by
 * adding its folder.
 * @returns {Service[]}
 */
export function discoverServices() {
  return readdirSync(join(root, 'apps'))
    .sort()
    .map((name) => {
      const directory = join(root, 'apps', name);
      const has = (/** @type {string[]} */ ...path) => existsSync(join(directory, ...path));
      return {
        name,
        directory,
        // A page for browsers begins with a main.ts, too, but has no configuration.
        hasMain: has('src', 'main.ts') && has('src', 'config.ts'),
        hasHttp: has('src', 'app.ts'),
        serves: servedBy(join(directory, 'project.json')),
        hasWorker: has('src', 'worker.ts'),
        hasDatabase: has('prisma', 'schema.prisma'),
        usesTemporal: has('src', 'temporal'),
      };
    })
    .filter(({ hasMain, hasDatabase }) => hasMain || hasDatabase);
}

/** By the tag `serves:<service>` of its project. @param {string} project */
function servedBy(project) {
  if (!existsSync(project)) return undefined;
  /** @type {{ tags?: string[] }} */
  const { tags = [] } = JSON.parse(readFileSync(project, 'utf8'));
  return tags.find((tag) => tag.startsWith('serves:'))?.slice('serves:'.length);
}

/**
 * What runs for real: everything, or the gateway, the services named and what works for them; the others get stubs.
 * @param {Service[]} services
 * @param {string[] | undefined} only
 */
export function chooseServices(services, only) {
  if (only === undefined) return { chosen: services, stubs: [] };
  const names = services.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new LauncherError(`There is no service "${unknown}"; there are ${names.join(', ')}.`);
  }
  const isChosen = (/** @type {Service} */ { name, serves }) =>
    name === 'gateway' || only.includes(name) || (serves !== undefined && only.includes(serves));
  return {
    chosen: services.filter(isChosen),
    stubs: services.filter((service) => !isChosen(service) && service.hasHttp),
  };
}

/** The end of a service's environment variables: `data-exchange` is `DATA_EXCHANGE`. @param {string} service */
export function variableSuffix(service) {
  return service.toUpperCase().replaceAll('-', '_');
}

/** The name of a service where only letters, digits and underscores are allowed. @param {string} service */
export function identifierOf(service) {
  return service.replaceAll('-', '_');
}
