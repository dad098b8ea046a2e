import type { RowQuotaDeps } from '@plinth/http/row-quota';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { commentQuotaOf } from '../src/store/comment-quota';
import { APPROVER, aTenantWithOrders } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

const LIMIT = 120_000;
/** 6,000 bytes. */
const LONG = '字'.repeat(2_000);
const SHORT = '字'.repeat(300);
/** An id of 1,191 bytes. */
const longId = (count: number) => String(count).padStart(3, '0') + '𠀀'.repeat(297);

describe('the quota of bytes in long comments', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow({
      environment: { WORKFLOW_TENANT_LONG_COMMENT_BYTES_MAX: String(LIMIT) },
    });
  });
  afterAll(() => service.close());

  const refused = {
    status: 429,
    body: { quota: { name: 'workflow-long-comment-bytes', scope: 'tenant', limit: LIMIT } },
  };
  /** How many bytes a process finds stored that counts them now. */
  const storedBytes = async (tenantId: string): Promise<number> => {
    const limit = 1_000_000;
    const quota = commentQuotaOf({ db: service.db, log: silentLog(), metrics: new Registry(), limit });
    await quota.whenKnown(tenantId, 2 * limit);
    let bytes = 0;
    while (bytes < limit && quota.hasRoom(tenantId, limit - bytes) === false) bytes += 1;
    return bytes;
  };

  // What is written while comments are counted may count twice, and the first one not at all.
  it('refuses long ones beyond it and leaves nothing of them, and no short ones', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const move = (entityId: string, comment: string) =>
      http.post(`/workflow/Invoice/${entityId}/transition`, { targetState: 'Submitted', comment });
    let answer = await move('0', LONG);
    let count = 1;
    for (; answer.status === 200 && count <= 21; count++) answer = await move(String(count), LONG);

    expect(count - 1).toBeGreaterThanOrEqual(10);
    expect({ status: answer.status, body: answer.body }).toMatchObject(refused);
    const stateOf = async () => (await http.get('/workflow/Invoice/new/transitions')).body.currentState;
    expect(await move('new', LONG)).toMatchObject(refused);
    expect(await stateOf()).toBe('Draft');
    expect((await move('new', SHORT)).body).toMatchObject({ outcome: 'Completed' });
    expect(
      (
        await service
          .as(aCaller())
          .post('/workflow/Invoice/1/transition', { targetState: 'Submitted', comment: LONG })
      ).status,
    ).toBe(200);
  });

  it('refuses items of a batch that have no room', async () => {
    const http = service.as(aCaller());
    const items = (first: number, count: number, comment: string) =>
      Array.from({ length: count }, (_, at) => ({
        entityType: 'Invoice',
        entityId: String(first + at),
        targetState: 'Submitted',
        comment,
      }));
    const statuses = async (batch: object[]) =>
      (await http.post('/workflow/transitions', { items: batch })).body.results.map(
        ({ error }: { error: { status: number } | null }) => error?.status ?? 200,
      ) as number[];

    const first = await statuses(items(0, 25, LONG));
    expect(first.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
    expect(first.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect(await statuses(items(100, 3, SHORT))).toEqual([200, 200, 200]);
  });

  it('counts the names of entities too, without comments', async () => {
    const caller = aCaller();
    const http = service.as(caller);
    const move = async (entityIds: string[]) => {
      const items = entityIds.map((entityId) => ({
        entityType: 'Invoice',
        entityId,
        targetState: 'Submitted',
      }));
      const { results } = (await http.post('/workflow/transitions', { items })).body;
      return results.map(({ error }: { error: { status: number } | null }) => error?.status ?? 200);
    };

    const statuses = await move(Array.from({ length: 200 }, (_, count) => longId(count)));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const written = statuses.filter((status: number) => status === 200).length;
    expect(written).toBeGreaterThanOrEqual(12);
    expect(await storedBytes(caller.tenantId)).toBe(4 * (7 + 1_191) * written);
    expect(await storedBytes(caller.tenantId)).toBeLessThanOrEqual(LIMIT);
    expect(await move([newId(), 'short'])).toEqual([200, 200]);
  });

  it('takes room for the comments of requests and votes wherever they are stored', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, {
      permission: 'Workflow.Transitions.Approve',
      mode: 'Count',
      count: 2,
    });
    const names = 'Order1'.length;
    const [ann, bob, cid] = [user('ann'), user('bob', APPROVER), user('cid', APPROVER)];

    expect(await move(ann, '1', 'Approved', LONG)).toBe('ApprovalRequested PendingApproval');
    expect(await storedBytes(tenantId)).toBe(12_000 + (4 + 2) * names);
    expect(await move(bob, '1', 'Approved', LONG)).toBe('ApprovalRequested PendingApproval');
    expect(await storedBytes(tenantId)).toBe(18_000 + (4 + 2) * names);
    expect(await move(cid, '1', 'Approved', LONG)).toBe('Completed Approved');
    expect(await storedBytes(tenantId)).toBe(30_000 + (4 + 2 + 4) * names);
    expect(await move(ann, '2', 'Approved', SHORT)).toBe('ApprovalRequested PendingApproval');
    expect(await move(bob, '2', 'Draft', LONG)).toBe('Completed Draft');
    expect(await storedBytes(tenantId)).toBe(36_000 + (4 + 2 + 4 + 4) * names);
  });

  it('refuses requests and decisions with long comments beyond it, and takes them without', async () => {
    const { admin, user } = await aTenantWithOrders(service, {
      permission: 'Workflow.Transitions.Approve',
    });
    const decide = (entityId: string, targetState: string, comment?: string) =>
      service
        .as(user('bob', APPROVER))
        .post(`/workflow/Order/${entityId}/transition`, { targetState, comment });
    const request = (entityId: string, comment?: string) =>
      admin.post(`/workflow/Order/${entityId}/transition`, { targetState: 'Approved', comment });
    await request('1');
    await request('2');
    let answer = await request('3', LONG);
    for (let count = 4; answer.status === 200 && count < 16; count++)
      answer = await request(String(count), LONG);
    expect({ status: answer.status, body: answer.body }).toMatchObject(refused);

    expect(await decide('1', 'Approved', LONG)).toMatchObject(refused);
    expect((await decide('1', 'Approved')).body).toMatchObject({ outcome: 'Completed' });
    expect((await decide('2', 'Draft', SHORT)).body).toMatchObject({ outcome: 'Completed' });
  });

  it('counts long comments in indexes that rows with short ones are not in', async () => {
    const tenantId = newId();
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    try {
      const comment = `repeat('x', CASE WHEN n % 100 = 0 THEN 2000 ELSE 20 END)`;
      const all = 'FROM generate_series(1, 10000) AS n';
      await admin.query(
        `INSERT INTO move (tenant_id, entity_type, entity_id, position, id, transition_name, previous_state, new_state,
                           transitioned_at, transitioned_by, transitioned_by_name, comment)
         SELECT '${tenantId}', 'Order', n, 1, gen_random_uuid(), 'Go', 'A', 'B', now(), 'ada', 'Ada', ${comment} ${all}`,
      );
      await admin.query(
        `INSERT INTO approval (tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state, requested_by,
                               requested_by_name, requested_at, comment, approver_users, needed, escalate_users, is_reminded,
                               is_escalated, "end", ended_at)
         SELECT '${tenantId}', gen_random_uuid(), 'Order', n, 'Go', 'A', 'B', 'ada', 'Ada', now(), ${comment}, '{}', 1, '{}',
                false, false, 'Denied', now() ${all}`,
      );
      await admin.query(
        `INSERT INTO approval_vote (tenant_id, approval_id, seat, voter_id, comment, voted_at)
         SELECT tenant_id, id, 'ada', 'ada', comment, now() FROM approval WHERE tenant_id = '${tenantId}'`,
      );
      await admin.query('ANALYZE');
    } finally {
      await admin.end();
    }
    let plan = '';
    const db: RowQuotaDeps['db'] = {
      inTenant: (tenant, work) =>
        service.db.inTenant(tenant, (tx) =>
          work({
            ...tx,
            $queryRawUnsafe: async (statement: string, ...values: unknown[]) => {
              plan = JSON.stringify(
                await tx.$queryRawUnsafe<unknown[]>(`EXPLAIN (FORMAT JSON) ${statement}`, ...values),
              );
              return [{ rows: 0 }] as never;
            },
          }),
        ),
    };
    const quota = commentQuotaOf({ db, log: silentLog(), metrics: new Registry(), limit: LIMIT });
    await quota.whenKnown(tenantId, 2 * LIMIT);

    const indexes = plan.match(/(?<="Index Name":")\w+/g)?.toSorted();
    expect(indexes).toEqual(['approval_vote_with_long_comment', 'long_approval', 'long_move']);
    expect(plan).not.toContain('Seq Scan');
  });
});
