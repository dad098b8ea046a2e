import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** A line of code that somebody might write in a file of a folder. */
interface Source {
  folder: string;
  code: string;
}

const root = join(__dirname, '../../..');

/** The rules that each source breaks; one process asks all of them, since it takes seconds to start. */
function brokenRules(sources: Source[]): string[][] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(__dirname, 'broken-rules.mjs')], {
    cwd: root,
    encoding: 'utf8',
    input: JSON.stringify(
      sources.map(({ folder, code }) => ({ file: `${folder}/forbidden-import.ts`, code: `${code}\n` })),
    ),
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as string[][];
}

const boundaries = '@nx/enforce-module-boundaries';
const restricted = 'no-restricted-imports';

const forbidden: (Source & { what: string; rule: string })[] = [
  {
    what: 'a library that imports from one above it',
    folder: 'libs/kernel/src',
    code: `export { createLog } from '@plinth/runtime/process/log';`,
    rule: boundaries,
  },
  {
    what: 'a contract that imports a database client',
    folder: 'libs/contracts/src',
    code: `export { Pool } from 'pg';`,
    rule: boundaries,
  },
  {
    what: 'a service that imports from another service',
    folder: 'apps/settings/src',
    code: `export { createApp } from '../../localization/src/app';`,
    rule: boundaries,
  },
  {
    what: 'a domain that imports a database client',
    folder: 'apps/settings/src/domain',
    code: `export { Pool } from 'pg';`,
    rule: restricted,
  },
  {
    what: 'a route that imports Prisma',
    folder: 'apps/settings/src/routes',
    code: `export { PrismaClient } from '../generated/client';`,
    rule: restricted,
  },
  {
    what: 'a gRPC server that imports Prisma',
    folder: 'apps/settings/src/grpc',
    code: `export { PrismaClient } from '../generated/client';`,
    rule: restricted,
  },
  {
    what: 'an exchange definition that imports a database client',
    folder: 'apps/settings/src/exchange',
    code: `export { Pool } from 'pg';`,
    rule: restricted,
  },
  {
    what: 'a use case that imports a route',
    folder: 'apps/data-exchange/src/app',
    code: `export { mountImports } from '../routes/imports';`,
    rule: restricted,
  },
  {
    what: 'a store that imports the gRPC server',
    folder: 'apps/settings/src/store',
    code: `export { grpcServices } from '../grpc/server';`,
    rule: restricted,
  },
  {
    what: 'a service that imports from libs/testing',
    folder: 'apps/settings/src',
    code: `export { aCaller } from '@plinth/testing/http';`,
    rule: restricted,
  },
];
const allowed: Source = {
  folder: 'apps/settings/src',
  code: `export { createLog } from '@plinth/runtime/process/log';`,
};

describe('lint rules of the architecture', () => {
  const broken = brokenRules([...forbidden, allowed]);

  it.each(forbidden.map((source, index) => ({ ...source, broken: broken[index] })))(
    'reject in $folder: $what',
    ({ broken, rule }) => {
      expect(broken).toContain(rule);
    },
  );

  it('accept an allowed import', () => {
    expect(broken.at(-1)).toEqual([]);
  });
});
