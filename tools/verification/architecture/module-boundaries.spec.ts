import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(__dirname, '../../..');
const run = promisify(execFile);

/** Lints one line of code as if it stood in a file of the project, and returns the rules that it breaks. */
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
    ).catch((error: { stdout: string }) => error);
    const [result] = JSON.parse(stdout) as { messages: { ruleId: string }[] }[];
    return [...new Set(result?.messages.map(({ ruleId }) => ruleId))];
  } finally {
    await rm(file);
  }
}

describe('lint rules of the architecture', () => {
  it.each([
    [
      'libs/kernel/src',
      'a library that imports from one above it',
      `export { createLog } from '@plinth/runtime/process/log';`,
    ],
    ['libs/contracts/src', 'a contract that imports a database client', `export { Pool } from 'pg';`],
    [
      'apps/settings/src',
      'a service that imports from another service',
      `export { createApp } from '../../localization/src/app';`,
    ],
  ])('reject in %s: %s', async (folder, _, code) => {
    expect(await brokenRules(folder, code)).toContain('@nx/enforce-module-boundaries');
  });

  it.each([
    ['apps/settings/src/domain', 'a domain that imports a database client', `export { Pool } from 'pg';`],
    [
      'apps/settings/src/routes',
      'a route that imports Prisma',
      `export { PrismaClient } from '../generated/client';`,
    ],
    [
      'apps/settings/src/grpc',
      'a gRPC server that imports Prisma',
      `export { PrismaClient } from '../generated/client';`,
    ],
    [
      'apps/settings/src/exchange',
      'an exchange definition that imports a database client',
      `export { Pool } from 'pg';`,
    ],
    [
      'apps/data-exchange/src/app',
      'a use case that imports a route',
      `export { mountImports } from '../routes/imports';`,
    ],
    [
      'apps/settings/src/store',
      'a store that imports the gRPC server',
      `export { grpcServices } from '../grpc/server';`,
    ],
    [
      'apps/settings/src',
      'a service that imports from libs/testing',
      `export { aCaller } from '@plinth/testing/http';`,
    ],
  ])('reject in %s: %s', async (folder, _, code) => {
    expect(await brokenRules(folder, code)).toContain('no-restricted-imports');
  });

  it('accept an allowed import', async () => {
    expect(
      await brokenRules('apps/settings/src', `export { createLog } from '@plinth/runtime/process/log';`),
    ).toEqual([]);
  });
});
