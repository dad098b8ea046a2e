import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { infrastructure } from '@plinth/testing/infrastructure';
import { connected, migrateService, withDatabase, type Access } from './migrate-service.ts';
import { type Migration } from './migration-files.ts';

const notes = migration('1_notes', 'CREATE TABLE notes (id int PRIMARY KEY, text text)');
const journal = migration(
  '2_journal',
  `CREATE TABLE journal (id int PRIMARY KEY); REVOKE UPDATE, DELETE ON journal FROM PUBLIC;`,
);

let database: TestedDatabase;

beforeEach(() => {
  database = newDatabase();
});

afterEach(() => database.drop());

test('creates the database and the roles, and applies each migration once', async () => {
  expect(await migrateService(database.access, [notes])).toEqual(['1_notes']);
  expect(await migrateService(database.access, [notes, journal])).toEqual(['2_journal']);
  expect(await migrateService(database.access, [notes, journal])).toEqual([]);
});

test('keeps the books as Prisma does', async () => {
  await migrateService(database.access, [notes]);
  const rows = await database.asAdmin('SELECT * FROM _prisma_migrations');
  expect(rows).toMatchObject([
    {
      migration_name: '1_notes',
      checksum: notes.checksum,
      applied_steps_count: 1,
      logs: null,
      rolled_back_at: null,
    },
  ]);
  expect(rows[0]?.finished_at).toBeInstanceOf(Date);
});

test('gives the service the rows of its tables and nothing else', async () => {
  await migrateService(database.access, [notes]);
  await database.asService("INSERT INTO notes VALUES (1, 'a')");
  expect(await database.asService('SELECT * FROM notes')).toHaveLength(1);
  for (const forbidden of [
    'CREATE TABLE mine (id int)',
    'DROP TABLE notes',
    'ALTER TABLE notes DISABLE ROW LEVEL SECURITY',
    'TRUNCATE notes',
    'DELETE FROM _prisma_migrations',
  ]) {
    await expect(database.asService(forbidden)).rejects.toThrow(/denied|must be owner/);
  }
});

test('closes a database to others that was created by a process which was ended before it could', async () => {
  const { ownerRole, database: name } = database.plan;
  const asAdmin = (sql: string) =>
    connected(infrastructure().postgresUrl, async (client) => (await client.query(sql)).rows);
  await asAdmin(`CREATE ROLE ${ownerRole} NOLOGIN`);
  await asAdmin(`CREATE DATABASE ${name} OWNER ${ownerRole} TEMPLATE template0`);
  await migrateService(database.access, [notes]);
  expect(await asAdmin(`SELECT has_database_privilege('public', '${name}', 'CONNECT') AS open`)).toEqual([
    { open: false },
  ]);
});

test('does not give back a right that a migration took away', async () => {
  const appRole = database.plan.appRole;
  const appendOnly = migration('3_append_only', `REVOKE UPDATE, DELETE ON journal FROM ${appRole}`);
  await migrateService(database.access, [notes, journal, appendOnly]);
  await migrateService(database.access, [notes, journal, appendOnly]);
  await database.asService('INSERT INTO journal VALUES (1)');
  await expect(database.asService('DELETE FROM journal')).rejects.toThrow(/denied/);
});

test('refuses a migration that was changed after it had been applied', async () => {
  await migrateService(database.access, [notes]);
  const changed = migration('1_notes', `${notes.sql} -- a comment`);
  await expect(migrateService(database.access, [changed])).rejects.toThrow(/1_notes was changed/);
});

test('leaves nothing of a migration that fails, says where, and applies the repaired one', async () => {
  const broken = migration('1_notes', 'CREATE TABLE notes (id int);\nSELECT nonsense;');
  await expect(migrateService(database.access, [broken])).rejects.toThrow(/1_notes failed at line 2/);
  expect(await migrateService(database.access, [notes])).toEqual(['1_notes']);
});

test('applies once when several processes migrate at the same time', async () => {
  const applied = await Promise.all([1, 2, 3].map(() => migrateService(database.access, [notes, journal])));
  expect(applied.flat().sort()).toEqual(['1_notes', '2_journal']);
});

test('builds an index concurrently where the migration asks for no transaction', async () => {
  const index = migration(
    '2_index',
    '-- plinth: no transaction\nCREATE INDEX CONCURRENTLY notes_text ON notes (text)',
  );
  expect(await migrateService(database.access, [notes, index])).toEqual(['1_notes', '2_index']);
});

test('tries again when a table is busy', async () => {
  await migrateService(database.access, [notes]);
  const wider = migration('2_wider', 'ALTER TABLE notes ADD COLUMN extra text');
  const busy = new Client({ connectionString: database.adminUrl });
  await busy.connect();
  await busy.query('BEGIN; LOCK TABLE notes');
  const migrating = migrateService(database.access, [notes, wider]);
  // Longer than the runner waits for a lock in one attempt.
  setTimeout(() => void busy.query('COMMIT').then(() => busy.end()), 5_500);
  expect(await migrating).toEqual(['2_wider']);
});

test('refuses a service that would connect as an administrator', async () => {
  const powerful = { ...database.plan, appRole: 'postgres' };
  const url = infrastructure().postgresUrl;
  const access: Access = { kind: 'owner', url: database.adminUrl, appRole: powerful.appRole };
  await migrateService({ kind: 'admin', url, plan: database.plan }, []);
  await expect(migrateService(access, [notes])).rejects.toThrow(/must not be a superuser/);
});

type TestedDatabase = ReturnType<typeof newDatabase>;

function newDatabase() {
  const admin = infrastructure().postgresUrl;
  const name = `test_migrate_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;
  const plan = { database: name, ownerRole: `${name}_owner`, appRole: `${name}_app`, appPassword: 'secret' };
  const adminUrl = withDatabase(admin, name);
  const serviceUrl = new URL(adminUrl);
  serviceUrl.username = plan.appRole;
  serviceUrl.password = plan.appPassword;
  const access: Access = { kind: 'admin', url: admin, plan };
  const ask = (url: string) => (sql: string) =>
    connected(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);
  const drop = () =>
    connected(admin, async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`DROP ROLE IF EXISTS ${plan.ownerRole}, ${plan.appRole}`);
    });
  return { access, plan, adminUrl, asAdmin: ask(adminUrl), asService: ask(serviceUrl.href), drop };
}

function migration(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
