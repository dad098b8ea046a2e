import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { readJson } from './json-file.mjs';
import { projectNode, root } from './paths.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {{ taskId: string, target: string, projectName: string, status?: number }} Task what Nx says of a task */

/** What Nx says of its last run; it is there once targets have run in this checkout. */
const runFile = join(root, '.nx', 'cache', 'run.json');
const programs = join(root, 'node_modules', '.bin');
/** The reports of jest: outputs of the targets, so that a target from the cache has its report too. */
const reports = join(root, 'dist', 'tests');
/** Of a failure: what was expected and the place, without all that led there. */
const FAILURE_LINES_MAX = 40;

const processors = Math.max(2, Math.floor(availableParallelism() / 2));
const sideBySide = (/** @type {number} */ parallel) => [
  `--parallel=${parallel}`,
  '--exclude-task-dependencies',
];
/** Begun before all others and together: Nx begins with what most depends on, and would leave them alone at the end. */
const longest = 'e2e,data-exchange,gateway,faults';
/** Begun before others that nobody depends on, for the same reason. */
const long = 'packages,workflow,runtime-test,pdf-renderer,timeline';
/**
 * Specs on servers wait most of their time, for what these do, for windows and for what is killed to come back: more of
 * them than processors use what each leaves. Beside the longest this is also what only computes, and gives way to them by
 * its priority (`nice` in the project of the root). `units` is what the projects call `unit`, in one run of jest: to start
 * it for each took longer than most of their specs.
 */
const phases = [
  [
    '--targets=test,typecheck,lint,knip,format,references',
    `--projects=${longest},workspace`,
    ...sideBySide(processors + 1),
  ],
  ['--targets=test,units', `--projects=${long},*`, `--exclude=${longest}`, ...sideBySide(processors + 1)],
];

/** Whether targets have run in this checkout, so that some may be in the cache. */
export const haveTargetsRun = () => existsSync(runFile);

/**
 * Runs every target that checks something, in every project, and counts the tests from the reports of jest.
 * @returns {Promise<Counts & { failures: string[] }>} with what failed, one text for each
 */
export async function runTargets() {
  rmSync(reports, { recursive: true, force: true });
  /** @type {Task[]} */
  const tasks = [];
  // Once before all: each run of Nx that would ask for it again starts shorter specs before longer ones.
  let hasFailed = (await runProgram(['tools/development/build/generate.ts'])) !== 0;
  for (const phase of phases) {
    const result = await runPhase(phase);
    tasks.push(...result.tasks);
    hasFailed ||= result.code !== 0;
  }
  const reportOf = (/** @type {string} */ name) => readJson(join(reports, `${name}.json`), undefined);
  const counts = countTests(tasks, reportOf);
  const failures = describeFailures(tasks, reportOf);
  return { ...counts, failed: counts.failed === 0 && hasFailed ? 1 : counts.failed, failures };
}

/**
 * @param {string[]} selection
 * @returns {Promise<{ code: number | null, tasks: Task[] }>}
 */
async function runPhase(selection) {
  rmSync(runFile, { force: true });
  const code = await runProgram([join(programs, 'nx'), 'run-many', ...selection, '--output-style=static']);
  return { code, tasks: readJson(runFile, { tasks: [] }).tasks };
}

/**
 * @param {string[]} args the program of Node.js, and its arguments
 * @returns {Promise<number | null>} the exit code
 */
async function runProgram(args) {
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
