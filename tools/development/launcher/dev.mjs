import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { runCommand } from './command.mjs';
import { installPackages } from './install-packages.mjs';
import { readOptions } from './options.mjs';
import { projectNode } from './paths.mjs';
import { createProgress } from './progress.mjs';
import { runPlatform } from './run-platform.mjs';

/** `npm run dev`: everything as `npm start` starts it, and each save rebuilds and restarts what it changed. */
await runCommand(async () => {
  const options = readOptions();
  await installPackages(createProgress((line) => console.log(line)));
  // The first time npm runs on another Node.js, which may not run TypeScript.
  if (realpathSync(projectNode()) !== realpathSync(process.execPath)) return onProjectNode();
  const { watchSources } = await import('./dev/watch-sources.mjs');
  await runPlatform(options, watchSources);
});

function onProjectNode() {
  // Ctrl-C reaches both processes, and the other one has to finish first.
  process.on('SIGINT', () => {});
  process.exitCode = spawnSync(projectNode(), process.argv.slice(1), { stdio: 'inherit' }).status ?? 1;
}
