import { runCommand } from '../command.mjs';
import { createProgress } from '../progress.mjs';
import { LauncherError } from '../run.mjs';
import { sources } from './sources.mjs';
import { bring } from './strategies.mjs';

/** `node tools/launcher/servers/bring.mjs NAME`: prints where the program is, once it is there. */
await runCommand(async () => {
  const name = process.argv[2] ?? '';
  const source = Object.entries(sources).find(([key]) => key === name)?.[1];
  if (source === undefined) throw new LauncherError(`There is no source for "${name}".`);
  const progress = createProgress((line) => console.error(line));
  const { program } = await progress.task(name, (task) => bring(source, task));
  console.log(program);
});
