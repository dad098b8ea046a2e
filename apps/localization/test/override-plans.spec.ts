import { SHORT_TEXT_BYTES_MAX } from '@plinth/http/long-texts';
import { turnsAt } from '@plinth/runtime/process/fair-places';
import type { Caller } from '@plinth/kernel/caller';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { PrismaPg } from '@prisma/adapter-pg';
import type { Client } from 'pg';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { baseTexts } from '../src/resources/base-texts';
import { overrideStore, type OverrideStore } from '../src/store/override-store';
import { textListStore } from '../src/store/text-list';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const OVERRIDES = 20_000;
/** Of one batch. */
const TEXTS = 10;

/** Texts of one resource in one language. */
const fillOverrides = (admin: Client, tenantId: string, count: number) =>
  admin.query(
    `INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, modified_by)
     SELECT $1, gen_random_uuid(), 'Console', 'en', 'key-' || n, 'A text', 'ada' FROM generate_series(1, $2::int) AS n`,
    [tenantId, count],
  );

const textOf = (key: string, value: string) => ({
  resourceName: 'Console',
  cultureName: 'en',
  key,
  value,
  replacedValue: null,
});

/** Reads a text, which cultures there are, and what has changed. Texts of a culture in use are read as a whole. */
async function read(db: Database, overrides: OverrideStore, { tenantId }: Caller): Promise<void> {
  expect(await overrides.find(tenantId, textOf('key-18', ''))).toBeDefined();
  await overrides.version(tenantId);
  await overrides.cultures(tenantId);
  await overrides.list(tenantId, { resourceName: 'Console', cultureName: 'fr' });
  await overrides.list(tenantId, { resourceName: 'Emails', cultureName: 'en' });
  await overrides.inCultures(tenantId, ['fr', 'fr-CA']);
  const list = textListStore(db, baseTexts);
  const page = { descending: true, limit: TEXTS, offset: 0 };
  await list.drifted(tenantId, { resourceName: 'Emails', search: '' }, page);
  const first = { ...page, descending: false };
  for (const search of ['', 'a text'])
    await list.names(tenantId, { names: [], own: { search }, page: first, wantsTotalCount: false });
  await list.overridesOf(tenantId, [textOf('key-18', '')], ['en', 'fr']);
}

/** Of long texts it is looked for what is stored of them. */
const long = (text: string) => text.padEnd(SHORT_TEXT_BYTES_MAX + 1, '.');

/** Saves and removes single texts and a batch of them, new ones and such that are there. */
async function write(db: Database, caller: Caller, label: string): Promise<void> {
  const value = long(label);
  const overrides = overrideStore(db, { take: () => undefined }, turnsAt(1), () => undefined);
  for (const key of ['key-17', `new-${label}`]) {
    const { etag } = await overrides.put(caller, textOf(key, value), undefined);
    await overrides.put(caller, textOf(key, long('again')), { ifMatch: [etag] });
  }
  await overrides.remove(caller, textOf(`new-${label}`, ''), undefined);
  const batch = Array.from({ length: TEXTS }, (_, n) => ({
    ...textOf(n % 2 ? `key-${n}` : `new-${label}-${n}`, value),
    place: n,
  }));
  await overrides.putMany(caller, batch);
  const asRead = batch.map((one) => ({ ...one, value: `${value} again`, formerValue: value }));
  expect(await overrides.putMany(caller, asRead)).toEqual(new Set());
  await overrides.removeMany(
    caller,
    asRead.slice(0, TEXTS / 4).map(({ value, ...one }) => ({ ...one, formerValue: value })),
  );
  await overrides.removeMany(caller, batch.slice(TEXTS / 4, TEXTS / 2));
  await read(db, overrides, caller);
}

describe('the statements of saved texts', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('localization');
  });
  afterAll(() => database.drop());

  it('read no more rows than they are about, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillOverrides, isOfRequests: true },
      { id: caller.tenantId, rowCount: OVERRIDES },
      (pool, label) => onTenantDatabase(pool, createClient, (db) => write(db, caller, label)),
    );

    expect(excessiveOf(reads, TEXTS)).toEqual([]);
  });
});
