import { systemClock } from '@plinth/kernel/clock';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { createPool, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { PrismaPg } from '@prisma/adapter-pg';
import type { Client } from 'pg';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { companyStore } from '../src/store/company-store';
import { contactStore } from '../src/store/contact-store';
import { stageTransitions } from '../src/store/stage-transitions';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const CONTACTS = 20_000;

/** Contacts of one company, which were moved once, and as many companies. */
async function fillContacts(admin: Client, tenantId: string, count: number): Promise<void> {
  const rows = {
    company: `(tenant_id, id, external_id, name, kind, is_active, created_by, changed_by, created_at)
      SELECT $1, gen_random_uuid(), 'C-' || n, 'Analytical Engines', 'Customer', true, 'ada', 'ada',
        now() - n * interval '1 second'`,
    contact: `(tenant_id, id, external_id, last_name, channel, email, created_by, changed_by, company_id)
      SELECT $1, gen_random_uuid(), 'P-' || n, 'Lovelace', 'Email', 'ada@example.com', 'ada', 'ada',
        (SELECT id FROM company WHERE tenant_id = $1 AND external_id = 'C-1')`,
    contact_move: `(tenant_id, id, contact_id, new_stage)
      SELECT $1, gen_random_uuid(), (SELECT id FROM contact WHERE tenant_id = $1 AND external_id = 'P-1'), 'Active'`,
    executed_operation: `(tenant_id, operation_id, result) SELECT $1, gen_random_uuid()::text, '{}'`,
  };
  for (const [table, columns] of Object.entries(rows))
    await admin.query(`INSERT INTO ${table} ${columns} FROM generate_series(1, $2::int) AS n`, [
      tenantId,
      count,
    ]);
}

/** Creates, changes, moves and deletes a contact, and its company. */
async function write(db: Database, caller: Caller): Promise<void> {
  const unlimited = { take: () => undefined };
  const storing = { db, clock: systemClock, quotas: { contact: unlimited, company: unlimited } };
  const companies = companyStore(storing);
  const contacts = contactStore(storing);
  const operation = () => ({ ...caller, operationId: newId() });
  const externalId = newId();
  const company = { externalId, name: 'Analytical Engines', kind: 'Customer', isActive: true } as const;
  const { id: companyId } = await companies.create(operation(), company);
  await companies.update(operation(), companyId, { ...company, name: 'Difference Engines' }, undefined);
  const contact = { externalId, lastName: 'Lovelace', channel: 'Email', email: 'ada@example.com' } as const;
  const { id } = await contacts.create(operation(), { ...contact, company: { externalId: 'C-1' } });
  await contacts.update(operation(), id, { ...contact, company: { externalId } }, undefined);
  const transition = {
    id: newId(),
    contactId: id,
    from: 'Prospect',
    to: 'Active',
    comment: null,
    notAfter: null,
  } as const;
  expect(await stageTransitions(storing).apply(caller, transition)).toMatchObject({ applied: true });
  await contacts.delete(caller, id, undefined);
  await companies.delete(caller, companyId, undefined);
}

/** Reads a contact with its company, and pages of the newest and the oldest companies; other orders and filters look through all. */
async function read(db: Database, { tenantId }: Caller): Promise<void> {
  const unlimited = { take: () => undefined };
  const storing = { db, clock: systemClock, quotas: { contact: unlimited, company: unlimited } };
  const companies = companyStore(storing);
  const newest = firstRows('createdAt');
  const page = await companies.list(tenantId, newest);
  const { createdAt, id } = page.rows[1]!;
  const after = [createdAt.toISOString(), id];
  // Rows that were deleted before stand at the other end of the index.
  for (const list of [newest, firstRows('createdAt', false)])
    await companies.list(tenantId, { ...list, after });
  await companies.get(tenantId, id);
  const contacts = contactStore(storing);
  const { rows } = await contacts.list(tenantId, newest);
  expect(rows[1]!.company).toEqual({ externalId: 'C-1' });
  await contacts.get(tenantId, rows[0]!.id);
}

describe('the statements of a saved contact', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('contacts');
  });
  afterAll(() => database.drop());

  it('read no more rows than it has, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillContacts, isOfRequests: true },
      { id: caller.tenantId, rowCount: CONTACTS },
      (pool) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await write(db, caller);
          await read(db, caller);
        }),
    );

    expect(excessiveOf(reads, 1)).toEqual([]);
  });

  it('have names on their connections, but for those of lists, which callers shape', async () => {
    const { tenantId } = aCaller();
    const pool = createPool(database.url, silentLog(), { tenantConnections: 1 });
    await onTenantDatabase(pool, createClient, async (db) => {
      const unlimited = { take: () => undefined };
      const companies = companyStore({
        db,
        clock: systemClock,
        quotas: { contact: unlimited, company: unlimited },
      });
      await expect(companies.get(tenantId, newId())).rejects.toMatchObject({ kind: 'not-found' });
      const named = () =>
        db.inTenant(tenantId, (tx) =>
          tx.$queryRawUnsafe<{ statement: string }[]>('SELECT statement FROM pg_prepared_statements'),
        );
      const before = await named();
      expect(before.some(({ statement }) => statement.includes('"public"."company"'))).toBe(true);
      for (const operator of ['eq', 'contains', 'gt'] as const)
        await companies.list(tenantId, {
          ...firstRows('createdAt', true, { wantsTotalCount: true }),
          filters: [{ field: 'name', operator, values: ['Engines'] }],
        });
      expect(await named()).toEqual(before);
    });
    await pool.end();
  });
});
