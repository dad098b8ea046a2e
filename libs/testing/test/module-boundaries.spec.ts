import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '../../..');
const run = promisify(execFile);

/** Lints one line of code as if it stood in a file of the project, and answers the rules that it breaks. */
async function brokenRules(folder: string, code: string): Promise<string[]> {
  const file = join(root, folder, 'forbidden-import.ts');
  await writeFile(file, `${code}\n`);
  try {
    const { stdout } = await run(
      process.execPath,
      ['node_modules/eslint/bin/eslint.js', '--format', 'json', file],
      {
        cwd: root,
      },
    ).catch((failure: { stdout: string }) => failure);
    const [result] = JSON.parse(stdout) as { messages: { ruleId: string }[] }[];
    return [...new Set(result?.messages.map(({ ruleId }) => ruleId))];
  } finally {
    await rm(file);
  }
}

describe('the architecture is a lint rule', () => {
  it.each([
    ['libs/kernel/src', 'a library below reaches up', `export { createLog } from '@plinth/runtime/log';`],
    ['libs/contracts/src', 'a contract reaches for a server', `export { Pool } from 'pg';`],
    [
      'apps/settings/src',
      'a service reaches into another',
      `export { createApp } from '../../localization/src/app';`,
    ],
  ])('%s: %s', async (folder, _, code) => {
    expect(await brokenRules(folder, code)).toContain('@nx/enforce-module-boundaries');
  });

  it.each([
    ['apps/settings/src/domain', 'a decision touches the world', `export { Pool } from 'pg';`],
    [
      'apps/settings/src/routes',
      'a route speaks to the database',
      `export { PrismaClient } from '../generated/client';`,
    ],
    [
      'apps/settings/src',
      'a service uses what is for tests',
      `export { aCaller } from '@plinth/testing/http';`,
    ],
  ])('%s: %s', async (folder, _, code) => {
    expect(await brokenRules(folder, code)).toContain('no-restricted-imports');
  });

  it('lets through what is allowed', async () => {
    expect(
      await brokenRules('apps/settings/src', `export { createLog } from '@plinth/runtime/log';`),
    ).toEqual([]);
  });
});
