const { existsSync, readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');

/**
 * The targets of a project follow from what is in its folder; what a target does is in `targetDefaults` of nx.json.
 * @param {string} root the folder of the project
 */
function inferTargets(root) {
  const files = filesOf(root);
  const specs = files.filter((file) => file.endsWith('.spec.ts'));
  const needsServers = (/** @type {string} */ spec) =>
    spec.endsWith('.integration.spec.ts') || /^(apps|libs)\/(?!.*\/src\/)/.test(spec);
  const has = (/** @type {string} */ name) => files.includes(join(root, name));
  const found = {
    generate: has('prisma/schema.prisma') || files.some((file) => file.endsWith('.proto')),
    build: has('src/main.ts') || has('vite.config.ts'),
    serve: has('src/main.ts'),
    unit: specs.some((spec) => !needsServers(spec)),
    test: specs.some(needsServers),
  };
  return Object.fromEntries(Object.entries(found).flatMap(([target, is]) => (is ? [[target, {}]] : [])));
}

/** Without the projects inside it, such as `libs/http/test`. @param {string} folder @returns {string[]} */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    const isOther =
      ['generated', 'node_modules'].includes(entry.name) || existsSync(join(path, 'project.json'));
    return isOther ? [] : filesOf(path);
  });
}

/** @type {import('@nx/devkit').CreateNodesV2} */
const createNodesV2 = [
  '{apps,libs,tools}/**/project.json',
  (files) =>
    files.map((file) => {
      const root = dirname(file);
      return [file, { projects: { [root]: { targets: inferTargets(root) } } }];
    }),
];

module.exports = { name: 'infer-targets', createNodesV2 };
