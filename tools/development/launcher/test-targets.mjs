import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { readJson } from './json-file.mjs';
import { projectNode, root } from './paths.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {{ taskId: string, target: string, projectName: string, status?: number }} Task what infer-targets.cjs writes of a task */

/** What Nx says of its last run: it is there once targets have run in this checkout. */
const runFile = join(root, '.nx', 'cache', 'run.json');
const programs = join(root, 'node_modules', '.bin');
/** The reports of jest: outputs of the targets, so that a target from the cache has its report too. */
const reports = join(root, 'dist', 'tests');
/** Of a failure: what was expected and the place, without all that led there. */
const FAILURE_LINES_MAX = 40;

/** How many projects at once: three on up to five processors. */
const places = 2 * Math.max(2, Math.floor(availableParallelism() / 2)) - 1;
/**
 * Targets of the root that do nothing, and depend on what takes long: Nx begins with that on which most depends, and would
 * leave the longest alone at the end. What takes longest is in both of them.
 */
const order = ['longest', 'long'];
/**
 * Runs of Nx, side by side from the first to the last minute, so that nothing waits for the end of what it does not need.
 * Specs on servers wait most of their time, for what these do, for windows and for what is killed to come back: more of
 * them than processors use what each leaves. What only computes takes what is left (`nice` in the project of the root), and
 * no place of a spec. `units` is what the projects call `unit`, in one run of jest: to start it for each took longer than
 * most of their specs.
 */
const runs = [
  [`--targets=test,units,${order.join(',')}`, `--parallel=${places}`, '--exclude-task-dependencies'],
  [
    '--targets=typecheck,lint,knip,format,references',
    '--projects=workspace',
    '--parallel=1',
    '--exclude-task-dependencies',
  ],
];

/** Whether targets have run in this checkout, so that some may be in the cache. */
export const haveTargetsRun = () => existsSync(runFile);

/**
 * Runs every target that checks something, in every project, and counts the tests from the reports of jest.
 * @returns {Promise<Counts & { failures: string[] }>} with what failed, one text for each
 */
export async function runTargets() {
  rmSync(reports, { recursive: true, force: true });
  const nx = join(programs, 'nx');
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tasks-'));
  // Once before all. Each run of Nx that would ask for the code again starts shorter specs before longer ones, and where
  // nothing has run before, each would look for the projects, and write down what it found, at the same time.
  const preparations = await Promise.all([
    runProgram(['tools/development/build/generate.ts']),
    runProgram([nx, 'graph', `--file=${join(folder, 'projects.json')}`]),
  ]);
  const results = await Promise.all(
    runs.map(async (selection, at) => {
      const file = join(folder, `${at}.json`);
      const args = [nx, 'run-many', ...selection, '--output-style=static'];
      const code = await runProgram(args, { PLINTH_TASK_RESULTS: file });
      const tasks = readJson(file, /** @type {Task[] | undefined} */ (undefined));
      return { name: `nx run-many ${selection.join(' ')}`, code, tasks };
    }),
  );
  rmSync(folder, { recursive: true });
  const tasks = tasksOf(results);
  const reportOf = (/** @type {string} */ name) => readJson(join(reports, `${name}.json`), undefined);
  const counts = countTests(tasks, reportOf);
  const crashes = describeCrashes([
    ...['generate', 'nx graph'].map((name, at) => ({ name, code: preparations[at] ?? null, tasks: [] })),
    ...results,
  ]);
  return {
    ...counts,
    failed: counts.failed + crashes.length,
    failures: [...describeFailures(tasks, reportOf), ...crashes],
  };
}

/**
 * The tasks of all runs, without those that only say an order: they are skipped where one that they depend on failed, which
 * is counted itself.
 * @param {{ tasks: Task[] | undefined }[]} results
 */
export const tasksOf = (results) =>
  results.flatMap(({ tasks }) => tasks ?? []).filter(({ target }) => !order.includes(target));

/**
 * The programs that ended other than by what became of their tasks, so that what they had to check is not known.
 * @param {{ name: string, code: number | null, tasks: Task[] | undefined }[]} results without tasks where none were written
 * @returns {string[]}
 */
export function describeCrashes(results) {
  return results
    .filter(
      ({ code, tasks }) => tasks === undefined || (code !== 0 && tasks.every(({ status }) => status === 0)),
    )
    .map(({ name, code, tasks }) => {
      const end = code === null ? 'ended by a signal' : `exit code ${code}`;
      return `FAIL ${name}: ${end}${tasks === undefined ? ', and no results of its tasks' : ''}`;
    });
}

/**
 * @param {string[]} args the program of Node.js, and its arguments
 * @param {Record<string, string>} [environment]
 * @returns {Promise<number | null>} the exit code, where no signal ended it
 */
async function runProgram(args, environment) {
  const child = spawn(projectNode(), args, {
    cwd: root,
    env: {
      // Specs start hundreds of processes of few programs.
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
      // Each run of Nx would start processes for its plugins, which take longer than their work.
      NX_ISOLATE_PLUGINS: 'false',
      ...process.env,
      NX_DAEMON: 'false',
      PATH: `${programs}${delimiter}${process.env.PATH}`,
      ...environment,
    },
    // What it says goes to stderr: the last line of stdout is the result.
    stdio: ['ignore', 2, 2],
  });
  const [code] = await once(child, 'exit');
  return code;
}

/**
 * The tests of jest's reports, and one test for each other target: it passed when it passed in every project. A task
 * that failed without a failed test is one failure.
 * @param {Task[]} tasks
 * @param {(name: string) => JestReport | undefined} reportOf
 * @returns {Counts}
 */
export function countTests(tasks, reportOf) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const checks = new Set(tasks.map(({ target }) => target));
  for (const { target, projectName, status } of tasks) {
    const report = reportOf(`${projectName}.${target}`);
    const failed = report === undefined ? 0 : report.numFailedTests + report.numRuntimeErrorTestSuites;
    if (report !== undefined || status !== 0) checks.delete(target);
    counts.passed += report?.numPassedTests ?? 0;
    counts.failed += failed === 0 && status !== 0 ? 1 : failed;
    counts.skipped += report === undefined ? 0 : report.numPendingTests + report.numTodoTests;
  }
  return { ...counts, passed: counts.passed + checks.size };
}

/**
 * What failed, with the reasons that jest gave: they stand far above the last line otherwise, among what passed.
 * @param {Task[]} tasks
 * @param {(name: string) => JestReport | undefined} reportOf
 * @returns {string[]}
 */
export function describeFailures(tasks, reportOf) {
  return tasks.flatMap(({ taskId, projectName, target, status }) => {
    const results = reportOf(`${projectName}.${target}`)?.testResults ?? [];
    const failures = results
      .filter((file) => file.status === 'failed')
      .map(({ name, message }) => {
        const lines = message.split('\n');
        const rest =
          lines.length > FAILURE_LINES_MAX ? [`  (${lines.length - FAILURE_LINES_MAX} more lines)`] : [];
        return [`FAIL ${taskId} ${name}`, ...lines.slice(0, FAILURE_LINES_MAX), ...rest].join('\n');
      });
    return failures.length === 0 && status !== 0 ? [`FAIL ${taskId}`] : failures;
  });
}

/**
 * @typedef {Record<
 *   'numPassedTests' | 'numFailedTests' | 'numRuntimeErrorTestSuites' | 'numPendingTests' | 'numTodoTests', number
 * > & { testResults?: { name: string, status: string, message: string }[] }} JestReport
 */
