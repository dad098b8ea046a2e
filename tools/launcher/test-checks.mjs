import { delimiter, join } from 'node:path';
import { root } from './paths.mjs';
import { run } from './run.mjs';

/** @typedef {{ passed: number, failed: number }} Counts */

/** What is said of the sources without running them; each counts as one test. */
const checks = [
  { name: 'format', commands: [['prettier', '--check', '--log-level', 'warn', '.']] },
  {
    name: 'lint',
    // The rule about boundaries reads the project graph that Nx leaves behind.
    commands: [
      ['nx', 'show', 'projects'],
      ['eslint', '--max-warnings', '0', '.'],
    ],
  },
  { name: 'types', commands: [['tsc', '--noEmit', '-p', 'tsconfig.json']] },
];

/**
 * @param {import('./progress.mjs').Progress} progress
 * @returns {Promise<Counts>}
 */
export async function runChecks(progress) {
  const results = await Promise.allSettled(
    checks.map(({ name, commands }) =>
      progress.task(name, async (task) => {
        for (const command of commands) await runPackage(/** @type {[string, ...string[]]} */ (command));
        task.result('passed');
      }),
    ),
  );
  const failed = results.filter(({ status }) => status === 'rejected').length;
  return { passed: results.length - failed, failed };
}

/** @param {[string, ...string[]]} command */
function runPackage([program, ...args]) {
  const programs = join(root, 'node_modules', '.bin');
  return run(join(programs, program), args, {
    name: program,
    cwd: root,
    env: { ...process.env, NX_DAEMON: 'false', PATH: `${programs}${delimiter}${process.env.PATH}` },
    linesShown: 200,
  });
}
