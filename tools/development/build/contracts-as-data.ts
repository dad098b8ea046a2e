import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Plugin } from 'vite';
import { root } from '../launcher/paths.mjs';
import { loadModule } from './load-module.ts';

const MODULES = /\/libs\/contracts\/src\/[\w-]+\/(?:[\w-]*endpoints|shapes)\.ts$/;
/** The module by which forms are checked: it alone has the shapes, and pages load it for those who write in a form. */
const CHECKER = /\/apps\/console\/src\/forms\/shapes\.ts$/;
const WITH_SHAPES = '?with-shapes';
/** What the client of the platform reads of an endpoint. */
const READ_BY_CLIENT = [
  'method',
  'path',
  'upload',
  'repeatable',
  'rateLimitClass',
  'success',
  'alternatives',
];

/**
 * Gives browsers the contracts without their shapes: the client reads what is in READ_BY_CLIENT, while shapes
 * would bring zod and every rule of the platform to pages that never check anything by them. Forms are checked by the
 * shapes as they are.
 */
export const contractsAsData = (): Plugin => ({
  name: 'contracts-as-data',
  apply: 'build',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (!importer || !(CHECKER.test(importer) || importer.endsWith(WITH_SHAPES))) return null;
    const resolved = await this.resolve(source, importer, { skipSelf: true });
    return resolved && MODULES.test(resolved.id) ? { ...resolved, id: resolved.id + WITH_SHAPES } : null;
  },
  async load(id) {
    if (id.endsWith(WITH_SHAPES))
      return { code: await readFile(id.slice(0, -WITH_SHAPES.length), 'utf8'), moduleType: 'ts' };
    if (!MODULES.test(id)) return null;
    const module = await loadModule<Record<string, unknown>>(relative(root, id));
    const exported = Object.entries(module).filter(
      ([, value]) => typeof value !== 'function' && !isShape(value),
    );
    if (!id.endsWith('endpoints.ts')) return exported.map(declaration).join('\n');
    const groups = exported.filter(([, value]) => isGroup(value));
    const others = exported.filter(([, value]) => !isGroup(value));
    return [
      ...others.map(([name, value]) => declaration([name, isEndpoint(value) ? dataOf(value) : value])),
      // After the endpoints that they name.
      ...groups.map(([name, group]) => `export const ${name} = { ${namesIn(group as object, module)} };`),
    ].join('\n');
  },
});

const declaration = ([name, value]: readonly [string, unknown]): string =>
  `export const ${name} = ${JSON.stringify(value)};`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isShape = (value: unknown): boolean => isObject(value) && '_zod' in value;

const isEndpoint = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && 'method' in value && 'path' in value && 'success' in value;

/** All endpoints of a service by their names. */
const isGroup = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && Object.values(value).length > 0 && Object.values(value).every(isEndpoint);

/** The members of a group as an object literal has them: by the name of the export, or written out. */
const namesIn = (group: object, module: Record<string, unknown>): string =>
  Object.entries(group)
    .map(([name, value]: [string, object]) =>
      module[name] === value ? name : `${JSON.stringify(name)}: ${JSON.stringify(dataOf(value))}`,
    )
    .join(', ');

/** An endpoint without its shapes; where one was, the client sees only that there is one. */
const dataOf = (endpoint: object): object =>
  JSON.parse(
    JSON.stringify(
      Object.fromEntries(Object.entries(endpoint).filter(([name]) => READ_BY_CLIENT.includes(name))),
      (name, value: unknown) => (name === 'description' ? undefined : isShape(value) ? {} : value),
    ),
  ) as object;
