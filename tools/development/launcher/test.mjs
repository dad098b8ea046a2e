import { runCommand } from './command.mjs';
import { installPackages } from './install-packages.mjs';
import { createProgress } from './progress.mjs';
import { areTestServersStarted, startTestServers, stopTestServersWhenUnused } from './test-servers.mjs';
import { haveTargetsRun, runTargets } from './test-targets.mjs';

/** `npm test`: sets up, then runs everything CI runs. The last line says how many passed and failed. */
await runCommand(async () => {
  await installPackages(createProgress((line) => console.log(line)));
  const stopAfterwards = !areTestServersStarted();
  // Tests start the servers that they need. Where nothing is cached, all of them will: they start beside the checks.
  const servers = haveTargetsRun() ? undefined : startTestServers();
  servers?.catch(() => {});
  const { passed, failed, skipped, failures } = await runTargets().finally(async () => {
    await servers?.catch(() => {});
    if (stopAfterwards) await stopTestServersWhenUnused();
  });
  if (failed > 0) process.exitCode = 1;
  for (const failure of failures) console.error(failure);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
});
