import { parseArgs } from 'node:util';
import { layoutOf } from './paths.mjs';
import { LauncherError } from './run.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

/** What the commands understand: a flag, else its environment variable, else the default. */
export function readOptions() {
  const { values } = parseArgs({
    options: {
      detach: { type: 'boolean', default: false },
      supervised: { type: 'boolean', default: false },
      data: { type: 'string' },
      port: { type: 'string', default: process.env.PLINTH_PORT ?? '8080' },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new LauncherError(`The port ${values.port} is not a number between 1 and 65535.`);
  }
  return { ...values, port, layout: layoutOf(values.data) };
}
