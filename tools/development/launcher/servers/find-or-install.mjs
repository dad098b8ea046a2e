import { runCommand } from '../command.mjs';
import { createProgress } from '../progress.mjs';
import { LauncherError } from '../run.mjs';
import { sources } from './sources.mjs';
import { findOrInstall } from './strategies.mjs';

/** `node tools/development/launcher/servers/find-or-install.mjs NAME`: prints the path of the program. */
await runCommand(async () => {
  const name = process.argv[2] ?? '';
  const source = Object.entries(sources).find(([key]) => key === name)?.[1];
  if (source === undefined) throw new LauncherError(`There is no source for "${name}".`);
  const progress = createProgress((line) => console.error(line));
  const { program } = await progress.task(name, (task) => findOrInstall(source, task));
  console.log(program);
});
