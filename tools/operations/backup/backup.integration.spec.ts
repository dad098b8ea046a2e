import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { testServers } from '@plinth/testing/infrastructure';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import pg, { escapeIdentifier } from 'pg';
import { discoverServices, variableSuffix } from '../../development/launcher/services.mjs';

const RELEASE = join(__dirname, '../migrate/test/released-0.1.0');
const MAIN = join(__dirname, 'main.ts');
const services = discoverServices()
  .filter(({ hasDatabase }) => hasDatabase)
  .map(({ name }) => name);

/** The table that each database has beside those of the saved release. */
const BOOKKEEPING = `CREATE TABLE _prisma_migrations (id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL,
  finished_at timestamptz, migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0);`;

/** As `pg_restore` does it: it works as an administrator, and gives everything back to whom it belonged. */
const ownedBy = (role: string): string => `DO $$ DECLARE own record; BEGIN
  FOR own IN SELECT oid::regclass AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  LOOP EXECUTE format('ALTER TABLE %s OWNER TO ${escapeIdentifier(role)}', own.name); END LOOP;
  FOR own IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  LOOP EXECUTE format('ALTER ROUTINE %s OWNER TO ${escapeIdentifier(role)}', own.name); END LOOP;
END $$;`;

/** In the place of PostgreSQL's own, which have to be of the version of the server: a dump is the file of a release. */
const PROGRAMS = {
  pg_dump: `
    const file = option('file');
    const service = basename(file, '.dump');
    writeFileSync(file, 'cut');
    if (service === process.env.FAILING) process.exit(1);
    copyFileSync(join(process.env.DUMPED, service + '.dump'), file);`,
  pg_restore: `
    const dump = readFileSync(process.argv.at(-1), 'utf8');
    if (dump === 'cut') process.exit(1);
    if (option('file')) process.exit(0);
    const client = new pg.Client({ connectionString: option('dbname') });
    client.connect().then(() => client.query(dump)).then(() => client.end());`,
};

let folder: string;
let databases: Record<string, TestDatabase>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-backup-'));
  mkdirSync(join(folder, 'programs'));
  for (const [name, text] of Object.entries(PROGRAMS)) {
    const path = join(folder, 'programs', name);
    writeFileSync(
      path,
      `#!${process.execPath}
      const { basename, join } = require('node:path');
      const { copyFileSync, readFileSync, writeFileSync } = require('node:fs');
      const pg = require(${JSON.stringify(require.resolve('pg'))});
      const option = (name) => process.argv.find((word) => word.startsWith('--' + name + '='))?.slice(name.length + 3);
      ${text}`,
    );
    chmodSync(path, 0o755);
  }
  mkdirSync(join(folder, 'dumped'));
  for (const service of services) {
    const rows = gunzipSync(readFileSync(join(RELEASE, `${service}.sql.gz`)));
    const ownership = ownedBy(testServers().templates[service]!.ownerRole);
    writeFileSync(join(folder, 'dumped', `${service}.dump`), `${BOOKKEEPING}${rows}\n${ownership}`);
  }
  const created = services.map(async (service) => [service, await createTestDatabase(service)] as const);
  databases = Object.fromEntries(await Promise.all(created));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  for (const { drop } of Object.values(databases)) await drop();
});

/** Runs the command; `urlOf` is how it connects to the database of a service. */
const backup = (
  words: string[],
  variables: Record<string, string> = {},
  urlOf = ({ adminUrl }: TestDatabase): string => adminUrl,
): Promise<{ code: number; output: string }> => {
  const urls = Object.entries(databases).flatMap(([service, database]) => [
    [`DATABASE_URL_${variableSuffix(service)}`, database.url],
    [`MIGRATE_DATABASE_URL_${variableSuffix(service)}`, urlOf(database)],
  ]);
  const env = {
    ...process.env,
    ...Object.fromEntries(urls),
    ...variables,
    BLOB_URL: '',
    PATH: `${join(folder, 'programs')}${delimiter}${process.env.PATH}`,
    DUMPED: join(folder, 'dumped'),
  };
  return new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...words], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    ),
  );
};

const query = async (service: string, statement: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: databases[service]!.adminUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};
const countOf = (service: string, table: string) =>
  query(service, `SELECT count(*)::int AS count FROM ${table}`);
/** Whose the tables and functions are that migrations make and change. */
const ownersOf = (service: string) =>
  query(
    service,
    `SELECT relowner::regrole::text AS owner FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      UNION SELECT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
const saved = () => join(folder, 'backup');
const contentOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => [
        join(parentPath, name),
        readFileSync(join(parentPath, name), 'latin1'),
      ]),
  );

describe('npm run backup -- save', () => {
  it('leaves the backup that is there as it is until all dumps of the next are made', async () => {
    expect(await backup(['save', saved()])).toMatchObject({ code: 0 });
    const first = contentOf(saved());
    expect(Object.keys(first)).toHaveLength(services.length);

    expect(await backup(['save', saved()], { FAILING: 'settings' })).toMatchObject({ code: 1 });
    expect(contentOf(saved())).toEqual(first);

    // One that was killed could not tidy up.
    mkdirSync(join(saved(), 'databases-2026-11-21T00-00-00.000Z.partial'));
    expect(await backup(['save', saved()])).toMatchObject({ code: 0 });
    const second = contentOf(saved());
    expect(Object.values(second)).toEqual(Object.values(first));
    expect(Object.keys(second)).not.toEqual(Object.keys(first));
    expect(readdirSync(saved())).toHaveLength(1);
  });
});

describe('npm run backup -- restore', () => {
  it('takes a backup of an older version into databases of this one, and leaves a service that came later', async () => {
    rmSync(join(folder, 'dumped', 'contacts.dump'));
    const dumps = join(saved(), 'databases-2026-11-21T00-00-00.000Z');
    mkdirSync(dumps, { recursive: true });
    for (const dump of readdirSync(join(folder, 'dumped')))
      writeFileSync(join(dumps, dump), readFileSync(join(folder, 'dumped', dump)));
    await query(
      'contacts',
      `INSERT INTO outbox (tenant_id, id, name, subject, payload) VALUES ('${newId()}', '${newId()}', 'a.b', 'x', '{}')`,
    );

    const { code, output } = await backup(['restore', saved(), '--replace']);

    expect(output).toContain('contacts: not in this backup');
    expect(code).toBe(0);
    expect(await countOf('contacts', 'outbox')).toEqual([{ count: 1 }]);
    expect(await countOf('timeline', 'entry')).not.toEqual([{ count: 0 }]);
    expect(await countOf('timeline', 'blob_usage')).not.toEqual([{ count: 0 }]);

    // Or the next migrations, which their owner applies, could not change what those of this restore made.
    for (const service of services)
      expect(await ownersOf(service)).toEqual([{ owner: testServers().templates[service]!.ownerRole }]);

    for (const service of services)
      await query(
        service,
        'DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION pg_database_owner',
      );
    expect(await backup(['restore', saved()])).toMatchObject({ code: 0 });
    expect(await countOf('timeline', 'blob_usage')).not.toEqual([{ count: 0 }]);
  });

  it('trusts no credential of the backup, which may have been withdrawn since, unless a drill keeps them', async () => {
    expect(await backup(['save', saved()])).toMatchObject({ code: 0 });
    const inUse = () => query('workflow', 'SELECT delegate_id FROM delegation WHERE until_at > now()');

    const { code, output } = await backup(['restore', saved(), '--replace']);
    expect(code).toBe(0);
    expect(output).toMatch(/workflow: delegation \S+ of tenant \S+, by "user-1": removed/);
    expect(await inUse()).toEqual([]);

    expect(await backup(['restore', saved(), '--replace', '--keep-credentials'])).toMatchObject({ code: 0 });
    expect(await inUse()).toEqual([{ delegate_id: 'user-2' }]);
  });

  it('replaces nothing that it was not told to, that a service is connected to, or that a dump is too short for', async () => {
    expect(await backup(['save', saved()])).toMatchObject({ code: 0 });
    const isRefused = async (words: string[], why: string) => {
      const { code, output } = await backup(['restore', saved(), ...words]);
      expect(output).toContain(why);
      expect(code).toBe(1);
      expect(await countOf('contacts', 'contact')).toEqual([{ count: 0 }]);
    };
    await isRefused([], 'with --replace all that is in them is lost');

    const service = new pg.Client({ connectionString: databases['workflow']!.url });
    await service.connect();
    await isRefused(['--replace'], 'workflow is connected to its database');
    await service.end();
    const { username } = new URL(databases['workflow']!.url);
    const connections = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = '${username}'`;
    await eventually(async () => (await query('workflow', connections)).length === 0);

    const [dumps] = readdirSync(saved());
    writeFileSync(join(saved(), dumps!, 'workflow.dump'), 'cut');
    await isRefused(['--replace'], 'pg_restore ended with 1');
    rmSync(join(saved(), dumps!), { recursive: true });
    await isRefused(['--replace'], 'has no dumps that are complete');
  });
});

describe('npm run backup -- recheck', () => {
  it('has events asked for again as an administrator who does not bypass row-level security', async () => {
    const role = `administrator_${newId().replaceAll('-', '')}`;
    const owners = services.map((service) => escapeIdentifier(testServers().templates[service]!.ownerRole));
    await query(
      'timeline',
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; GRANT ${owners.join(', ')} TO ${role}`,
    );
    await query(
      'timeline',
      `INSERT INTO event_subscription (consumer, name, created_at) VALUES ('timeline', 'contacts.created', now())`,
    );
    const urlOf = ({ adminUrl }: TestDatabase): string =>
      Object.assign(new URL(adminUrl), { username: role, password: 'secret' }).href;
    try {
      expect(await backup(['recheck'], {}, urlOf)).toMatchObject({ code: 0 });
      expect(await query('timeline', 'SELECT rechecked_to::text FROM event_subscription')).toEqual([
        { rechecked_to: '-infinity' },
      ]);
    } finally {
      await query('timeline', `DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
