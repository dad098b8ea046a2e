const { existsSync, readdirSync, writeFileSync } = require('node:fs');
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

/**
 * Writes what became of each task where `npm test` asks for it, which has several runs of Nx side by side.
 * @type {import('@nx/devkit').PostTasksExecution}
 */
function postTasksExecution(_options, { taskResults }) {
  const file = process.env['PLINTH_TASK_RESULTS'];
  // A task may run Nx itself.
  if (file === undefined || process.env['NX_TASK_TARGET_PROJECT'] !== undefined) return;
  const tasks = Object.entries(taskResults).map(([taskId, { task, status }]) => ({
    taskId,
    projectName: task.target.project,
    target: task.target.target,
    status: status === 'failure' || status === 'skipped' ? 1 : 0,
  }));
  writeFileSync(file, JSON.stringify(tasks));
}

module.exports = { name: 'infer-targets', createNodesV2, postTasksExecution };
