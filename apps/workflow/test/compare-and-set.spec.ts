import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { changeOf, type TransitionEvent } from '../src/domain/change';
import type { EntitySnapshot } from '../src/domain/entity-snapshot';
import { definitionLockKeys } from '../src/store/definition-versions';
import { entityStore } from '../src/store/entity-store';
import { startWorkflow, type Workflow } from './start-workflow';

const at = new Date('2026-11-22T10:00:00Z');
const entityType = 'Invoice';
const submit: TransitionEvent = { kind: 'move', from: 'Draft', to: 'Submitted', transitionName: 'Submit' };

/** Rows that a change leaves, by table. */
type Rows = Record<'entity' | 'move' | 'executed_operation' | 'outbox', number>;

describe('a change of an entity that was read before', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  const read = async (tenantId: string, entityId: string): Promise<EntitySnapshot> =>
    (await entityStore(service.db).read({ tenantId, entityType, entityId }, { userId: 'ada', now: at }))
      .snapshot;

  const tryCommit = (
    tenantId: string,
    entityId: string,
    snapshot: EntitySnapshot,
    { event = submit, operationId = newId() }: { event?: TransitionEvent; operationId?: string } = {},
  ) => {
    const actor = { userId: operationId, userName: 'Ada' };
    const change = changeOf(event, { entityType, entityId, actor, comment: null, at });
    const result = { outcome: 'Completed', resultingState: 'Submitted' } as const;
    const operation = { operationId, result };
    return entityStore(service.db).commit(tenantId, snapshot, change, operation);
  };
  const commit = async (...of: Parameters<typeof tryCommit>) => (await tryCommit(...of)).outcome;

  const rowsOf = (tenantId: string): Promise<Rows> =>
    service.db.inTenant(tenantId, async (tx) => {
      const [rows] = await tx.$queryRaw<[Rows]>`
        SELECT (SELECT count(*)::int FROM entity) AS entity, (SELECT count(*)::int FROM move) AS move,
          (SELECT count(*)::int FROM executed_operation) AS executed_operation,
          (SELECT count(*)::int FROM outbox WHERE tenant_id = ${tenantId}::uuid) AS outbox`;
      return rows;
    });

  it.each([
    ['the first one', 0],
    ['a later one', 1],
  ])(
    'is written by one of many that read the same, and the others leave no row: %s',
    async (_, movesBefore) => {
      const tenantId = newId();
      const entityId = newId();
      for (let moved = 0; moved < movesBefore; moved++)
        await commit(tenantId, entityId, await read(tenantId, entityId));
      const snapshot = await read(tenantId, entityId);
      expect(snapshot.moves).toBe(movesBefore);

      const results = await Promise.all(
        Array.from({ length: 8 }, () => commit(tenantId, entityId, snapshot)),
      );

      expect(results.toSorted()).toEqual([...Array<string>(7).fill('changed'), 'committed']);
      const written = movesBefore + 1;
      expect(await rowsOf(tenantId)).toEqual({
        entity: 1,
        move: written,
        executed_operation: written,
        outbox: written,
      });
    },
  );

  it('that is not written says how often the entity had been moved, by which a lost race is known', async () => {
    const [tenantId, entityId] = [newId(), newId()];
    const first = await read(tenantId, entityId);
    expect(await tryCommit(tenantId, entityId, first)).toEqual({ outcome: 'committed' });
    const second = await read(tenantId, entityId);
    expect(await tryCommit(tenantId, entityId, first)).toEqual({ outcome: 'changed', movesBefore: 1 });
    expect(await tryCommit(tenantId, entityId, second)).toEqual({ outcome: 'committed' });
    expect(await tryCommit(tenantId, entityId, second)).toEqual({ outcome: 'changed', movesBefore: 2 });
  });

  it('is not written where another definition applies now', async () => {
    const tenantId = newId();
    const entityId = newId();
    const snapshot = await read(tenantId, entityId);
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
        VALUES (${tenantId}::uuid, ${entityType}, 1, NULL, ${at}::timestamptz, 'ada')`,
    );

    expect(await tryCommit(tenantId, entityId, snapshot)).toEqual({ outcome: 'changed', movesBefore: 0 });
    expect(await rowsOf(tenantId)).toEqual({ entity: 0, move: 0, executed_operation: 0, outbox: 0 });
  });

  it('is not written where a definition applies that has the same version in another history', async () => {
    const caller = aCaller();
    const { tenantId } = caller;
    const entityId = newId();
    await service.as(caller).put(`/workflow/definitions/${entityType}`, {
      initialState: 'Draft',
      transitions: [{ name: 'Submit', from: 'Draft', to: 'Submitted' }],
    });
    const snapshot = await read(tenantId, entityId);
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`UPDATE definition SET saved_at = saved_at + interval '1 s'`,
    );

    expect(await commit(tenantId, entityId, snapshot)).toBe('changed');
    expect(await commit(tenantId, entityId, await read(tenantId, entityId))).toBe('committed');
  });

  // A replica of the database that took over may have lost what was read, and got something else under its revision.
  it.each([
    ['another state', "state = 'Cancelled'"],
    ['more moves', 'moves = 2'],
    ['an open request', 'approval_id = gen_random_uuid()'],
  ])('is not written where the entity has the same revision in another history: %s', async (_, other) => {
    const tenantId = newId();
    const entityId = newId();
    await commit(tenantId, entityId, await read(tenantId, entityId));
    const snapshot = await read(tenantId, entityId);
    await service.db.inTenant(tenantId, (tx) => tx.$executeRawUnsafe(`UPDATE entity SET ${other}`));
    const before = await rowsOf(tenantId);

    expect(await commit(tenantId, entityId, snapshot)).toBe('changed');
    const key = { tenantId, entityType, entityId };
    expect(await entityStore(service.db).setMovingUntil(key, snapshot, at)).toBeUndefined();
    expect(await rowsOf(tenantId)).toEqual(before);
  });

  it('is decided by the definition that applies when it is written', async () => {
    const tenantId = newId();
    const entityId = newId();
    const key = { tenantId, entityType, entityId };
    const locked = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const saving = service.db.inTenant(tenantId, async (tx) => {
      const [, own] = definitionLockKeys(tenantId, entityType);
      await tx.$executeRawUnsafe('SELECT pg_advisory_xact_lock($1::bigint)', own);
      await tx.$executeRaw`
        INSERT INTO definition (tenant_id, entity_type, version, body, saved_at, saved_by)
        VALUES (${tenantId}::uuid, ${entityType}, 1, NULL, ${at}::timestamptz, 'ada')`;
      locked.resolve();
      await begun.promise;
    });
    await locked.promise;
    const actor = { userId: 'ada', userName: 'Ada' };
    const change = changeOf(submit, { entityType, entityId, actor, comment: null, at });
    const changing = entityStore(service.db).change(
      key,
      { userId: 'ada', now: at },
      { operationId: undefined },
      (read) => ({
        change,
        stamp: read.snapshot.definitionStamp,
      }),
    );
    begun.resolve();
    await saving;

    expect(await changing).toMatchObject({ stamp: `1-${at.getTime()}.0` });
    expect(await rowsOf(tenantId)).toEqual({ entity: 1, move: 1, executed_operation: 0, outbox: 1 });
  });

  it('does not wait for another tenant, whose own definition of the type is being saved', async () => {
    const other = aCaller();
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = service.db.inTenant(other.tenantId, async (tx) => {
      // The lock of a save. `lockUntilCommit` only sends it, and the save could be the first to have it.
      await tx.$executeRaw`
        SELECT pg_advisory_xact_lock(hashtextextended(${`${other.tenantId}/workflow-definitions`}, 0))`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const definition = {
      initialState: 'Draft',
      transitions: [{ name: 'Submit', from: 'Draft', to: 'Submitted' }],
    };
    const saving = service.as(other).put(`/workflow/definitions/${entityType}`, definition);
    try {
      const waits = eventually(async () => (await waitingForLocks()) > 0);
      expect(await Promise.race([waits, saving])).toBe(true);

      const tenantId = newId();
      const entityId = newId();
      expect(await commit(tenantId, entityId, await read(tenantId, entityId))).toBe('committed');
    } finally {
      release.resolve();
      await holding;
    }
    expect((await saving).status).toBe(200);
  });

  const waitingForLocks = (): Promise<number> =>
    service.db.inTenant(newId(), async (tx) => {
      const [row] = await tx.$queryRaw<[{ waiting: number }]>`
        SELECT count(*)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return row.waiting;
    });

  it('is written once for an operation, although its second attempt read what the first one wrote', async () => {
    const tenantId = newId();
    const entityId = newId();
    const operationId = newId();
    expect(await commit(tenantId, entityId, await read(tenantId, entityId), { operationId })).toBe(
      'committed',
    );

    expect(await commit(tenantId, entityId, await read(tenantId, entityId), { operationId })).toBe('changed');
    expect(await rowsOf(tenantId)).toEqual({ entity: 1, move: 1, executed_operation: 1, outbox: 1 });
  });
});
