import { readFileSync } from 'node:fs';

/**
 * What a variable says, or the file that its `_FILE` variable names; undefined when that is nothing. The same as every
 * process of the platform reads (`libs/runtime/src/process/config.ts`), so that secrets are mounted for the tools too.
 */
export function textOf(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const file = env[`${name}_FILE`];
  return (file ? readFileSync(file, 'utf8').trim() : env[name]) || undefined;
}
