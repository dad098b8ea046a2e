import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { infrastructure } from '@plinth/testing/infrastructure';
import { connected, migrateService, withDatabase, type Access } from './migrate-service.ts';
import { type Migration } from '../../development/build/migration-files.ts';

const notes = migration('1_notes', 'CREATE TABLE notes (id int PRIMARY KEY, text text)');
const journal = migration(
  '2_journal',
  `CREATE TABLE journal (id int PRIMARY KEY); REVOKE UPDATE, DELETE ON journal FROM PUBLIC;`,
);

let database: TestedDatabase;
const drops: (() => Promise<void>)[] = [];

beforeEach(() => {
  database = newDatabase();
});

afterEach(async () => {
  for (const drop of drops.splice(0)) await drop();
});

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

const index = migration(
  '3_index',
  '-- plinth: no transaction\nCREATE UNIQUE INDEX CONCURRENTLY notes_text ON notes (text);',
);

test('applies once when several processes migrate at the same time', async () => {
  const applied = await Promise.all(
    [1, 2, 3].map(() => migrateService(database.access, [notes, journal, index])),
  );
  expect(applied.flat().sort()).toEqual(['1_notes', '2_journal', '3_index']);
});

test('builds an index again whose building was interrupted', async () => {
  await migrateService(database.access, [notes]);
  await database.asService("INSERT INTO notes VALUES (1, 'a'), (2, 'a')");
  await expect(migrateService(database.access, [notes, index])).rejects.toThrow(/3_index failed/);
  const isValid = () =>
    database.asAdmin("SELECT indisvalid FROM pg_index WHERE indexrelid = 'notes_text'::regclass");
  expect(await isValid()).toEqual([{ indisvalid: false }]);
  const renamed = migration('3_index', index.sql.replace('notes_text', 'text_of_notes'));
  await expect(migrateService(database.access, [notes, renamed])).rejects.toThrow(/began and did not finish/);
  await database.asService("UPDATE notes SET text = 'b' WHERE id = 2");

  expect(await migrateService(database.access, [notes, index])).toEqual(['3_index']);
  expect(await isValid()).toEqual([{ indisvalid: true }]);
});

test('keeps an index that was complete when its process ended', async () => {
  await migrateService(database.access, [notes, index]);
  const oid = () => database.asAdmin("SELECT 'notes_text'::regclass::oid AS oid");
  const before = await oid();
  await database.asAdmin("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '3_index'");

  expect(await migrateService(database.access, [notes, index])).toEqual([]);
  expect(await oid()).toEqual(before);
});

test('tries again when a table is busy, and waits where that keeps nobody waiting', async () => {
  const other = newDatabase();
  const wider = migration('2_wider', 'ALTER TABLE notes ADD COLUMN extra text');
  const migrating = [];
  for (const [{ access, adminUrl }, later, work] of [
    [database, wider, 'LOCK TABLE notes'],
    [other, index, "INSERT INTO notes VALUES (1, 'a')"],
  ] as const) {
    await migrateService(access, [notes]);
    const busy = new Client({ connectionString: adminUrl });
    await busy.connect();
    await busy.query(`BEGIN; ${work}`);
    migrating.push(migrateService(access, [notes, later]));
    // Longer than the runner waits for a lock in one attempt.
    setTimeout(() => void busy.query('COMMIT').then(() => busy.end()), 5_500);
  }
  expect(await Promise.all(migrating)).toEqual([['2_wider'], ['3_index']]);
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
  drops.push(() =>
    connected(admin, async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`DROP ROLE IF EXISTS ${plan.ownerRole}, ${plan.appRole}`);
    }),
  );
  return { access, plan, adminUrl, asAdmin: ask(adminUrl), asService: ask(serviceUrl.href) };
}

function migration(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
