import { runCommand } from './command.mjs';
import { installPackages } from './install-packages.mjs';
import { projectNode, root } from './paths.mjs';
import { createProgress } from './progress.mjs';
import { run } from './run.mjs';
import { runChecks } from './test-checks.mjs';
import { runJest } from './test-jest.mjs';
import { startTestServers, stopTestServersWhenUnused } from './test-servers.mjs';

/** `npm test`: sets up, then runs everything CI runs. The last line says how many passed and failed. */
await runCommand(async () => {
  const progress = createProgress((line) => console.log(line));
  await installPackages(progress);
  const servers = startTestServers();
  let startedHere = false;
  try {
    // The servers may have to be brought first; the checks do not need them.
    const checks = await prepareAndCheck(progress).finally(() => servers.catch(() => {}));
    startedHere = await servers;
    const tests = await runJest();
    const passed = checks.passed + tests.passed;
    const failed = checks.failed + tests.failed;
    if (failed > 0) process.exitCode = 1;
    if (startedHere) await stopTestServersWhenUnused();
    startedHere = false;
    const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : '';
    console.log(`${passed} passed, ${failed} failed${skipped}`);
  } finally {
    if (startedHere) await stopTestServersWhenUnused();
  }
});

/** @param {import('./progress.mjs').Progress} progress */
async function prepareAndCheck(progress) {
  await progress.task('code', async (task) => {
    task.result(
      (await run(projectNode(), ['tools/build/generate.ts'], { name: 'generate', cwd: root })).trim(),
    );
  });
  return runChecks(progress);
}
