import type { PrismaPg } from '@prisma/adapter-pg';
import { longReadPlaces } from '@plinth/http/long-reads';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { Client } from 'pg';
import type { Approval } from '../src/domain/approval';
import { changeOf, type TransitionEvent } from '../src/domain/change';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { approvalStore } from '../src/store/approval-store';
import { delegationStore } from '../src/store/delegation-store';
import { definitionStore } from '../src/store/definition-store';
import { entityStore } from '../src/store/entity-store';
import { historyStore } from '../src/store/history-store';
import { recordOwnerMove } from '../src/store/owner-move-store';
import { requireVerification } from '../src/store/request-verification';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const ENTITIES = 20_000;
/** Of the definition of one type. */
const VERSIONS_KEPT = 500;
const at = new Date('2026-11-22T10:00:00Z');
const LATER = new Date('2036-11-22T10:00:00Z');
const actor = { userId: 'ada', userName: 'Ada Lovelace' };

/** Invoices that were moved once, every second one by its owner, and for which somebody was asked to agree; every second one waits for that. */
async function fillEntities(admin: Client, tenantId: string, count: number): Promise<void> {
  const rows = {
    definition: `(tenant_id, entity_type, version, body, saved_at, saved_by)
      SELECT $1, CASE WHEN n <= ${VERSIONS_KEPT} THEN 'Invoice' ELSE n::text END, n, '{"transitions": []}', now(), 'ada'`,
    entity: `(tenant_id, entity_type, entity_id, state, revision, moves, changed_at)
      SELECT $1, 'Invoice', n::text, 'Submitted', 1, 1, now()`,
    move: `(tenant_id, entity_type, entity_id, position, id, owner_move_id, transition_name, previous_state, new_state,
        transitioned_at, transitioned_by, transitioned_by_name)
      SELECT $1, 'Invoice', n::text, 1, gen_random_uuid(), CASE WHEN n % 2 = 0 THEN gen_random_uuid() END, 'Submit',
        'Draft', 'Submitted', now(), 'ada', 'Ada'`,
    approval: `(tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state, requested_by,
        requested_by_name, requested_at, approver_users, needed, escalate_users, is_reminded, is_escalated, next_step_at,
        verify_at, "end")
      SELECT $1, gen_random_uuid(), 'Invoice', n::text, 'Approve', 'Submitted', 'Approved', 'ada', 'Ada',
        now() + n * interval '1 second', '{grace}', 1, '{}', false, false,
        now() + n * interval '1 second', now() + n * interval '1 second', CASE WHEN n % 2 = 1 THEN 'Approved' END`,
    approval_vote: `(tenant_id, approval_id, seat, voter_id, voted_at)
      SELECT $1, (SELECT id FROM approval WHERE tenant_id = $1 AND entity_id = '1'), n::text, n::text, now()`,
    delegation: `(tenant_id, id, delegator_id, delegator_name, permissions, delegate_id, from_at, until_at, created_at)
      SELECT $1, gen_random_uuid(), n::text, 'Ada', '{}', (n + 1)::text, now(), now() + interval '1 year', now()`,
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
    const operationId = newId();
    const key = { tenantId, entityType: 'Invoice', entityId };
    const moved = await entities.change(
      key,
      { userId: 'ada', now: at },
      { operationId },
      ({ snapshot, first }) => {
        expect(first).toBeUndefined();
        const from = snapshot.state ?? 'Draft';
        const change = changeOf(
          { kind: 'move', from, to: 'Submitted', transitionName: 'Submit' },
          { entityType: 'Invoice', entityId, actor, comment: null, at },
        );
        const result = { outcome: 'Completed', resultingState: 'Submitted' } as const;
        return { change, operation: { operationId, result } };
      },
    );
    expect(moved).toBeDefined();
    const asked = { id: newId(), entityType: 'Invoice', entityId, targetState: 'Submitted', userId: 'ada' };
    expect(await entities.findOperation(tenantId, { operationId: newId() }, asked)).toBeUndefined();
  }
}

/** Records a move that an owner made, and finds it recorded. */
async function moveByOwner(db: Database, tenantId: string): Promise<void> {
  const entity = { entityType: 'Invoice', entityId: newId() };
  const move = { moveId: newId(), previousState: 'Draft', newState: 'Submitted', comment: null };
  const event = {
    id: newId(),
    name: 'billing.invoice-moved',
    tenantId,
    subject: entity.entityId,
    sequence: 1,
    occurredAt: at.toISOString(),
    actorId: 'ada',
    actorName: 'Ada Lovelace',
    deliveryCount: Infinity,
    payload: { ...entity, ...move, movedAt: at.toISOString(), movedBy: 'ada' },
  };
  for (let delivery = 1; delivery <= 2; delivery++)
    await db.inTenant(tenantId, (tx) => recordOwnerMove(tx, event), 'once');
}

const approvalOf = (entityId: string): Approval => ({
  id: newId(),
  entityType: 'Invoice',
  entityId,
  transitionName: 'Approve',
  formerState: 'Submitted',
  targetState: 'Approved',
  requestedBy: 'grace',
  requestedByName: 'Grace Hopper',
  requestedAt: at,
  comment: null,
  entityVersion: null,
  approverPermission: null,
  approverUsers: ['ada', 'alan'],
  needed: 2,
  remindAt: at,
  escalateAt: at,
  escalatePermission: null,
  escalateUsers: [],
  isReminded: false,
  isEscalated: false,
  expiresAt: null,
});

/** Requests an approval, reminds of it, agrees to it, and delegates. */
async function approve(db: Database, tenantId: string): Promise<void> {
  const entities = entityStore(db);
  const approvals = approvalStore(db);
  const delegations = delegationStore(db, { take: () => undefined });
  const entityId = newId();
  const approval = approvalOf(entityId);
  const commit = async (event: TransitionEvent, userId: string) => {
    const { snapshot } = await entities.read(
      { tenantId, entityType: 'Invoice', entityId },
      { userId, now: at },
    );
    const context = {
      entityType: 'Invoice',
      entityId,
      actor: { userId, userName: userId },
      comment: null,
      at,
    };
    const result = { outcome: 'Completed', resultingState: 'Approved' } as const;
    const operation = { operationId: newId(), result };
    const { outcome } = await entities.commit(tenantId, snapshot, changeOf(event, context), operation);
    expect(outcome).toBe('committed');
  };
  await commit({ kind: 'request', approval }, 'grace');
  await approvals.remind(tenantId, approval);
  await approvals.escalate(tenantId, approval);
  const gone = { id: newId(), name: 'billing.entity-gone', tenantId, subject: entityId, sequence: 2 };
  const payload = { entityType: 'Invoice', entityIds: [newId(), entityId] };
  const event = { ...gone, occurredAt: at.toISOString(), actorId: null, actorName: null, deliveryCount: 1 };
  await db.inTenant(tenantId, (tx) => requireVerification(tx, { ...event, payload }));
  const [now, later] = [new Date(), new Date(Date.now() + 60_000)];
  const claimed = await approvals.claimVerifications(tenantId, now, {
    until: later,
    without: ['Order'],
    limit: 1,
  });
  expect(claimed).toMatchObject([{ entityType: 'Invoice', verifyAt: later }]);
  await approvals.recordVerified(tenantId, claimed[0]!);
  expect(await approvals.findOpen(tenantId, approval.id)).toBeDefined();
  await commit({ kind: 'agree', approval, seat: 'ada', given: 1 }, 'ada');
  await commit({ kind: 'approve', approval, seat: 'alan' }, 'alan');
  const delegation = {
    id: newId(),
    delegatorId: '17',
    delegatorName: 'Ada',
    permissions: [],
    delegateId: 'grace',
    from: at,
    until: new Date('2036-11-22T10:00:00Z'),
    createdAt: at,
  };
  await delegations.insert({ tenantId, operationId: newId() }, delegation);
  await delegations.delete({ tenantId, operationId: newId() }, delegation.id, () => undefined);
}

/**
 * Reads inboxes of approvals, of one for whom all open ones wait and of one for whom none does: a total, and a page of a
 * filter, look through all that wait for the reader.
 */
async function readInbox(db: Database, tenantId: string): Promise<void> {
  const { waitingFor } = approvalStore(db);
  const caller = aCaller({ tenantId, userId: 'grace', permissions: ['Invoices.Approve'] });
  for (const descending of [false, true]) {
    const list = firstRows('requestedAt', descending);
    const { rows } = await waitingFor(caller, at, list);
    const { requestedAt, id } = rows[1]!.approval;
    const after = [requestedAt.toISOString(), id];
    const next = await waitingFor(caller, at, { ...list, after });
    expect(next.rows).toHaveLength(2);
    const other = aCaller({ tenantId, userId: '17', permissions: ['Orders.Approve'] });
    const { rows: none, delegators } = await waitingFor(other, new Date(), list);
    expect(none).toEqual([]);
    expect(delegators).toHaveLength(1);
  }
}

/** Reads the history of an entity, what is due, and delegations. */
async function read(db: Database, tenantId: string): Promise<void> {
  const history = historyStore(db);
  const entity = { tenantId, entityType: 'Invoice', entityId: '17' };
  await history.page(entity, { isNewestFirst: true, after: undefined, offset: 0, limit: 2 });
  await history.page(entity, { isNewestFirst: true, after: 2, offset: 0, limit: 1 });
  const approvals = approvalStore(db);
  expect(await approvals.tenantsWithDue(at)).toEqual([]);
  const due = await approvals.findDue(tenantId, LATER, undefined, 1);
  expect(await approvals.findDue(tenantId, LATER, due[0], 1)).toHaveLength(1);
  expect(await approvals.tenantsToVerify(at)).toEqual([]);
  await approvals.findComing(at, new Date(at.getTime() + 60_000), 1);
  const delegations = delegationStore(db, { take: () => undefined });
  const given = await delegations.ofUser(tenantId, '17', at);
  await delegations.find(tenantId, given[0]!.id);
  await definitionStore(db, longReadPlaces()).find(tenantId, '19000');
}

describe('the statements of a transition and of an approval', () => {
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
      (pool) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await move(db, tenantId);
          await moveByOwner(db, tenantId);
          await approve(db, tenantId);
          await read(db, tenantId);
          await readInbox(db, tenantId);
        }),
    );

    expect(excessiveOf(reads, 1)).toEqual([]);
  });
});
