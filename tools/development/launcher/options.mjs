import { parseArgs } from 'node:util';
import { layoutOf } from './paths.mjs';
import { LauncherError } from './run.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

/** What the commands understand: a flag, else its environment variable, else the default. */
export function readOptions(args = process.argv.slice(2)) {
  const values = parse(args);
  const port = Number(values.port ?? process.env.PLINTH_PORT ?? 8080);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new LauncherError(`The port of the gateway is a number between 1 and 65535.`);
  }
  const only = values.only?.split(',').map((name) => name.trim());
  const parent = values.parent === undefined ? undefined : Number(values.parent);
  if (parent !== undefined && (!Number.isInteger(parent) || parent < 1)) {
    throw new LauncherError(`The parent is the id of a process.`);
  }
  return { ...values, only, port, parent, layout: layoutOf(values.data) };
}

/** @param {string[]} args */
function parse(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        detach: { type: 'boolean', default: false },
        supervised: { type: 'boolean', default: false },
        data: { type: 'string' },
        port: { type: 'string' },
        only: { type: 'string' },
        inspect: { type: 'boolean', default: false },
        parent: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    throw new LauncherError(error instanceof Error ? error.message : String(error));
  }
}
