import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { infrastructure } from '@plinth/testing/infrastructure';
import { escapeIdentifier, type Client } from 'pg';
import { discoverServices } from '../../development/launcher/services.mjs';
import { connected, migrateService, withDatabase, type Access } from './migrate-service.ts';
import { readMigrations } from '../../development/build/migration-files.ts';
import { releaseOf, type Release } from './release.ts';

const TENANT = '0199c3a2-7b1e-7c44-9d5a-2f8f1e6b4c10';

/** Operations of the saved databases, and what `runOnce` finds for them after the upgrade. */
const OPERATIONS: Record<string, Record<string, unknown>> = {
  contacts: {
    'operation-company': { id: '0199c3a2-0000-7000-8000-000000000010' },
    'operation-contact': { id: '0199c3a2-0000-7000-8000-000000000011' },
  },
  'data-exchange': { 'operation-export': { id: '0199c3a2-0000-7000-8000-000000000022' } },
  localization: { 'operation-override': { etag: '"x-1"' } },
  settings: { 'operation-setting/Test.Name': null },
  template: {
    'operation-category': { category: 'c' },
    'operation-template': { template: 't', by: 'user-1' },
  },
  timeline: { 'operation-entry': { id: '0199c3a2-0000-7000-8000-000000000040' } },
  workflow: {
    'operation-delegation': { id: '0199c3a2-0000-7000-8000-000000000050' },
    'operation-transition': { outcome: 'Completed', resultingState: 'Active' },
  },
};

/** Tables that say what others hold, together or in another order, and how that is read from these. */
const TOTALS: Record<string, Record<string, string>> = {
  timeline: {
    blob_usage: `SELECT tenant_id, sum(greatest(size_bytes, 4096))::bigint AS bytes FROM blob
      WHERE NOT is_removed GROUP BY tenant_id`,
    person_suffix: `SELECT tenant_id, named.rank, named.suffix, user_id
      FROM person CROSS JOIN LATERAL person_suffixes(user_id, display_name) AS named`,
  },
  'data-exchange': {
    stored_file_usage: `SELECT tenant_id, sum(greatest(file_size_bytes, 4096))::bigint AS bytes FROM (
        SELECT tenant_id, file_size_bytes, file_removed_at FROM import_job
        UNION ALL SELECT tenant_id, file_size_bytes, file_removed_at FROM export_job) AS job
      WHERE file_removed_at IS NULL AND file_size_bytes IS NOT NULL GROUP BY tenant_id`,
  },
};

/** Columns that are emptied of what nothing reads any more: of a request that has ended those who might have decided it. */
const isForgotten = (table: string, row: Row, column: string): boolean =>
  table === 'approval' && row['end'] !== null && ['approver_users', 'escalate_users'].includes(column);

const services = discoverServices().filter(({ name }) => releaseOf(name) !== undefined);

describe('the upgrade of a database of version 0.1.0', () => {
  const databases: { drop(): Promise<void> }[] = [];
  const newDatabase = () => {
    const database = describeDatabase();
    databases.push(database);
    return database;
  };
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.drop();
  });

  it.each(services)('keeps every row of $name and makes the tables of a new database', async (service) => {
    const { name, directory } = service;
    const [upgraded, fresh] = [newDatabase(), newDatabase()];
    await restoreRelease(upgraded, name);
    const before = await rowsOf(upgraded);
    const emptyTables = Object.keys(before).filter((table) => before[table]!.length === 0);

    const migrations = readMigrations(directory);
    const applied = await migrateService(upgraded.access, migrations, releaseOf(name));
    await migrateService(fresh.access, migrations, releaseOf(name));

    expect(emptyTables).toEqual([]);
    expect(applied).toEqual(migrations.filter(isLaterThanRelease).map((migration) => migration.name));
    const after = await rowsOf(upgraded);
    for (const [table, rows] of Object.entries(before)) {
      const kept = rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            isForgotten(table, row, column) ? [] : value,
          ]),
        ),
      );
      expect(after[table]!.map(onlyColumnsOf(rows[0]!)).sort(byText)).toEqual(kept.sort(byText));
    }
    expect(after['executed_operation']!.length).toBeGreaterThan(0);
    expect(await operationsOf(upgraded)).toEqual(OPERATIONS[name]);
    for (const [table, counted] of Object.entries(TOTALS[name] ?? {})) {
      expect(after[table]).not.toEqual([]);
      expect(after[table]).toEqual(await jsonOf(upgraded, counted));
    }
    expect(await schemaOf(upgraded)).toEqual(await schemaOf(fresh));
    expect(await migrateService(upgraded.access, readMigrations(directory), releaseOf(name))).toEqual([]);
  });

  it('refuses a database that has a part of the released migrations', async () => {
    const { name, directory } = services[0]!;
    const database = newDatabase();
    await restoreRelease(database, name);
    const names = Object.keys((releaseOf(name) as Release).history);
    await database.asAdmin((client) =>
      client.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [names.at(-1)]),
    );

    const upgrade = migrateService(database.access, readMigrations(directory), releaseOf(name));

    await expect(upgrade).rejects.toThrow('upgrade it to 0.1.0 first');
  });
});

const isLaterThanRelease = ({ sql }: { sql: string }): boolean => !sql.startsWith('-- plinth: replaces ');

type Row = Record<string, unknown>;

/** A later release may add columns; none that were there may change. */
const onlyColumnsOf = (saved: Row) => (row: Row) =>
  Object.fromEntries(Object.keys(saved).map((column) => [column, row[column]]));

const byText = (one: unknown, other: unknown): number =>
  JSON.stringify(one).localeCompare(JSON.stringify(other));

type SavedDatabase = ReturnType<typeof describeDatabase>;

function describeDatabase() {
  const admin = infrastructure().postgresUrl;
  const name = `test_upgrade_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;
  const plan = { database: name, ownerRole: `${name}_owner`, appRole: `${name}_app`, appPassword: 'secret' };
  const access: Access = { kind: 'admin', url: admin, plan };
  return {
    access,
    plan,
    asAdmin: <Result>(work: (client: Client) => Promise<Result>) =>
      connected(withDatabase(admin, name), work),
    drop: () =>
      connected(admin, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        await client.query(`DROP ROLE IF EXISTS ${plan.ownerRole}, ${plan.appRole}`);
      }),
  };
}

/** Makes a database as version 0.1.0 left it: its tables, rows and bookkeeping. */
async function restoreRelease({ access, plan, asAdmin }: SavedDatabase, service: string): Promise<void> {
  await migrateService(access, []);
  const saved = readFileSync(join(__dirname, 'test/released-0.1.0', `${service}.sql.gz`));
  await asAdmin(async (client) => {
    await client.query(`SET ROLE ${escapeIdentifier(plan.ownerRole)}`);
    await client.query(gunzipSync(saved).toString());
  });
}

/** All rows but those of the bookkeeping, by table, as JSON. */
const rowsOf = ({ asAdmin }: SavedDatabase): Promise<Record<string, Row[]>> =>
  asAdmin(async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
         AND relnamespace = 'public'::regnamespace AND relname <> '_prisma_migrations' ORDER BY relname`,
    );
    const found: Record<string, Row[]> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: Row }>(
        `SELECT to_jsonb(t) AS row FROM ${escapeIdentifier(name)} AS t ORDER BY to_jsonb(t)::text`,
      );
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  });

const jsonOf = ({ asAdmin }: SavedDatabase, selection: string): Promise<Row[]> =>
  asAdmin(async (client) => {
    const { rows } = await client.query<{ row: Row }>(
      `SELECT to_jsonb(t) AS row FROM (${selection}) AS t ORDER BY to_jsonb(t)::text`,
    );
    return rows.map(({ row }) => row);
  });

const operationsOf = ({ asAdmin }: SavedDatabase): Promise<Record<string, unknown>> =>
  asAdmin(async (client) => {
    const { rows } = await client.query<{ operation_id: string; result: unknown }>(
      'SELECT operation_id, result FROM executed_operation WHERE tenant_id = $1',
      [TENANT],
    );
    return Object.fromEntries(rows.map(({ operation_id, result }) => [operation_id, result]));
  });

/** What the catalogue says about the schema, without the names of roles, which differ from database to database. */
const SCHEMA = {
  tables: `SELECT relname, relkind, relrowsecurity, relforcerowsecurity, relowner::regrole::text AS owner,
      relacl::text AS acl
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')`,
  columns: `SELECT c.relname, a.attname, row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)::int AS position,
      format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attidentity, a.attgenerated, a.attstorage,
      a.attcollation::regcollation::text AS collation, pg_get_expr(d.adbin, d.adrelid) AS "default"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`,
  constraints: `SELECT conrelid::regclass::text AS relation, conname, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
  indexes: `SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'`,
  policies: `SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies`,
  functions: `SELECT proname, pg_get_functiondef(oid) AS definition, proacl::text AS acl
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  triggers: `SELECT tgrelid::regclass::text AS relation, pg_get_triggerdef(oid) AS definition
    FROM pg_trigger WHERE NOT tgisinternal`,
  defaultPrivileges: `SELECT defaclrole::regrole::text AS role, defaclobjtype, defaclacl::text AS acl FROM pg_default_acl`,
};

const schemaOf = ({ asAdmin, plan }: SavedDatabase): Promise<Record<string, string[]>> =>
  asAdmin(async (client) => {
    const schema: Record<string, string[]> = {};
    for (const [part, statement] of Object.entries(SCHEMA)) {
      const { rows } = await client.query(statement);
      schema[part] = rows
        .map((row) => JSON.stringify(row).replaceAll(plan.ownerRole, 'owner').replaceAll(plan.appRole, 'app'))
        .sort();
    }
    return schema;
  });
