import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readJson } from './json-file.mjs';
import { projectNode, root } from './paths.mjs';

const resultFile = join(root, '.plinth', 'test', 'jest.json');

/**
 * Runs every spec, and counts from jest's own report.
 * @returns {Promise<import('./test-checks.mjs').Counts & { skipped: number }>}
 */
export async function runJest() {
  rmSync(resultFile, { force: true });
  const workers = Math.max(2, Math.floor(availableParallelism() / 2));
  const options = ['--ci', '--json', `--outputFile=${resultFile}`, `--maxWorkers=${workers}`];
  const child = spawn(projectNode(), [join('node_modules', 'jest', 'bin', 'jest.js'), ...options], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  return count(readJson(resultFile, undefined), code);
}

/**
 * @param {{ numPassedTests: number, numFailedTests: number, numRuntimeErrorTestSuites: number, numPendingTests: number, numTodoTests: number } | undefined} report
 * @param {number | null} code
 */
function count(report, code) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return {
    passed: report.numPassedTests,
    // Jest may fail for another reason than a test, such as a handle that was left open.
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
