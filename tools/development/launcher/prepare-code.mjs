import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fingerprintOf } from './fingerprint.mjs';
import { readJson, writeJson } from './json-file.mjs';
import { withLock } from './lock.mjs';
import { projectNode, root } from './paths.mjs';
import { createProgress } from './progress.mjs';
import { run } from './run.mjs';

/** What the processes are made from, and what was made of it. */
const codePaths = [
  'apps',
  'libs',
  'tools/development/build',
  'package-lock.json',
  'tsconfig.base.json',
  'dist/apps',
];

/** Who builds takes away what another platform of this checkout is about to start, or would build it once more. */
const lock = join(root, 'dist', 'code.lock');

/**
 * Generates and builds what the processes start from, unless nothing of it was written since.
 * @param {import('./progress.mjs').Progress} progress
 */
export function prepareCode(progress) {
  return progress.task('code', (task) =>
    withLock(lock, () => prepare(task), {
      onWait: (pid) => task.doing(`waiting for process ${pid}, which builds it`),
    }),
  );
}

/** @param {import('./progress.mjs').Task} task */
async function prepare(task) {
  const record = join(root, 'dist', 'code.json');
  if (readJson(record, { fingerprint: '' }).fingerprint === fingerprintOf(codePaths)) {
    task.result('up to date');
    return;
  }
  task.doing(`generating and building${existsSync(record) ? '' : ' (half a minute the first time)'}`);
  const tool = (/** @type {string} */ name) =>
    run(projectNode(), [`tools/development/build/${name}.ts`], { name, cwd: root });
  const generated = (await tool('generate')).trim();
  const built = (await tool('build')).trim();
  writeJson(record, { fingerprint: fingerprintOf(codePaths) });
  task.result(generated.startsWith('generated:') ? `${generated}; ${built}` : built);
}

// For specs that start a program of the build, or open a page of it.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await prepareCode(createProgress((line) => console.log(line)));
}
