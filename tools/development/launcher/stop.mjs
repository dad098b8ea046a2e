import { runCommand } from './command.mjs';
import { readOptions } from './options.mjs';
import { stopPlatform } from './stop-platform.mjs';

/** `npm run stop`: stops everything that `npm start` started. */
await runCommand(async () => {
  const { layout } = readOptions();
  console.log((await stopPlatform(layout)) ? 'Plinth is stopped.' : 'Plinth was not running.');
});
