import type { PrismaPg } from '@prisma/adapter-pg';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { Client } from 'pg';
import { changeOf } from '../src/domain/change';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { entityStore } from '../src/store/entity-store';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const ENTITIES = 20_000;
const at = new Date('2026-11-22T10:00:00Z');
const actor = { userId: 'ada', userName: 'Ada Lovelace' };

/** Invoices that were moved once. */
async function fillEntities(admin: Client, tenantId: string, count: number): Promise<void> {
  const rows = {
    entity: `(tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
      SELECT $1, 'Invoice', n::text, 'Submitted', 1, 1, now()`,
    move: `(tenant_id, entity_type, entity_id, position, id, transition_name, previous_state, new_state,
        transitioned_at, transitioned_by, transitioned_by_name)
      SELECT $1, 'Invoice', n::text, 1, gen_random_uuid(), 'Submit', 'Draft', 'Submitted', now(), 'ada', 'Ada'`,
    executed_operation: `(tenant_id, operation_id, result) SELECT $1, gen_random_uuid()::text, '{}'`,
  };
  for (const [table, columns] of Object.entries(rows))
    await admin.query(`INSERT INTO ${table} ${columns} FROM generate_series(1, $2::int) AS n`, [
      tenantId,
      count,
    ]);
}

/** Moves an invoice for the first time, and another one for the second time. */
async function move(db: Database, tenantId: string): Promise<void> {
  const entities = entityStore(db);
  for (const entityId of [newId(), '17']) {
    const snapshot = await entities.read(
      { tenantId, entityType: 'Invoice', entityId },
      { userId: 'ada', now: at },
    );
    const from = snapshot.state ?? 'Draft';
    const change = changeOf(
      { kind: 'move', from, to: 'Submitted', transitionName: 'Submit' },
      { entityType: 'Invoice', entityId, actor, comment: null, at },
    );
    const operation = { id: newId(), result: { outcome: 'Completed', resultingState: 'Submitted' } as const };
    expect(await entities.findOperation(tenantId, operation.id, undefined)).toBeUndefined();
    expect(await entities.commit(tenantId, snapshot, change, operation)).toBe('committed');
  }
}

describe('the statements of a transition', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('workflow');
  });
  afterAll(() => database.drop());

  it('read no more rows than the entity has, whatever the statistics know', async () => {
    const tenantId = newId();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillEntities, isOfRequests: true },
      { id: tenantId, rowCount: ENTITIES },
      (pool) => onTenantDatabase(pool, createClient, (db) => move(db, tenantId)),
    );

    expect(excessiveOf(reads, 1)).toEqual([]);
  });
});
