import type { PrismaPg } from '@prisma/adapter-pg';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { Client } from 'pg';
import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { SettingCommand } from '../src/domain/setting-change';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { apiKeyStore } from '../src/store/api-key-store';
import { settingStore } from '../src/store/setting-store';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const CHANGES = 20_000;
/** Of one setting of one person. */
const KEPT = 500;
const NAME = 'Service.Timing.PreferredTimezone';

/** Values of many people, and the history of one of them among those of others. */
async function fillChanges(admin: Client, tenantId: string, count: number, userId: string): Promise<void> {
  await admin.query(
    `INSERT INTO setting_value (tenant_id, scope, user_id, name, value)
     SELECT $1, 'user', n::text, '${NAME}', 'Europe/Paris' FROM generate_series(1, $2::int) AS n`,
    [tenantId, count],
  );
  await admin.query(
    `INSERT INTO setting_change (tenant_id, id, scope, user_id, name, kind, new_value, changed_at, changed_by)
     SELECT $1, gen_random_uuid(), 'user', CASE WHEN n <= ${KEPT} THEN $3 ELSE n::text END, '${NAME}', 'Set',
       'Europe/Paris', now(), 'ada' FROM generate_series(1, $2::int) AS n`,
    [tenantId, count, userId],
  );
  await admin.query(
    `INSERT INTO api_key (tenant_id, id, name, key_hash, hint, permissions, created_at, created_by, created_by_name,
       expires_at)
     SELECT $1, gen_random_uuid(), 'Shop', $1::uuid || '-' || n, '', '{}', now() + n * interval '1 second', 'ada',
       'Ada', now() + interval '1 day' FROM generate_series(1, $2::int) AS n`,
    [tenantId, count],
  );
}

/** Values that are short ask for no room. */
const quota = { take: () => {} };

const definition: SettingDefinition = {
  name: NAME,
  description: '',
  defaultValue: null,
  scopes: ['user', 'tenant'],
  isVisibleToUsers: true,
  isSecret: false,
  schema: { type: 'string' },
};

/** Sets a value anew and clears it, locks it and unlocks it. */
async function change(db: Database, caller: Caller): Promise<void> {
  const store = settingStore({
    db,
    box: undefined as never,
    config: {},
    quota,
  });
  const apply = (scope: SettingScope, command: SettingCommand) =>
    store.change({ ...caller, operationId: newId() }, scope, definition, command);
  for (const value of ['Europe/Vienna', 'Europe/Rome', null]) await apply('user', { type: 'write', value });
  for (const type of ['lock', 'unlock'] as const) await apply('tenant', { type });
}

/** Reads what is set for a person, the history of one of their settings, an API key, and pages of API keys. */
async function read(db: Database, { tenantId, userId }: Caller): Promise<void> {
  const settings = settingStore({ db, box: undefined as never, config: {}, quota });
  await settings.readSnapshot(tenantId, userId);
  await settings.readSnapshot(tenantId, newId());
  const newest = firstRows('changedAt');
  const { rows } = await settings.history({ tenantId, scope: 'user', userId }, NAME, newest);
  const after = [rows[1]!.changedAt.toISOString(), rows[1]!.id];
  // Rows that were deleted before stand at the other end of the index.
  for (const list of [newest, firstRows('changedAt', false)])
    await settings.history({ tenantId, scope: 'user', userId }, NAME, { ...list, after });
  const keys = apiKeyStore(db);
  const key = await keys.findInUse(`${tenantId}-17`);
  await keys.get(tenantId, key!.id);
  for (const list of [firstRows('createdAt'), firstRows('createdAt', false)]) {
    const page = await keys.list(tenantId, list);
    const { createdAt, id } = page.rows[1]!;
    await keys.list(tenantId, { ...list, after: [createdAt.toISOString(), id] });
  }
}

describe('the statements of a changed setting', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase('settings');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await database.drop();
  });

  it.each([
    ['that setting has', 1, 1],
    ['its history has where they remove old changes', 0, KEPT],
  ])('read no more rows than %s, whatever the statistics know', async (_what, random, rowsAsked) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const caller = aCaller();
    const fill = (admin: Client, tenantId: string, count: number) =>
      fillChanges(admin, tenantId, count, caller.userId);
    const reads = await readsUnderAllPlans(
      { ...database, fill, isOfRequests: true },
      { id: caller.tenantId, rowCount: CHANGES },
      (pool) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await change(db, caller);
          await read(db, caller);
        }),
    );

    expect(excessiveOf(reads, rowsAsked)).toEqual([]);
  });
});
