import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import * as fc from 'fast-check';
import { seatToAgree, type Approval, type Vote } from '../src/domain/approval';
import { startWorkflow, type Workflow } from './start-workflow';

const NOW = new Date('2026-03-01T12:00:00Z');
const inHours = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);

const userId = fc.constantFrom('ann', 'bob', 'cem', 'dee');
const permission = fc.constantFrom('Orders.Approve', 'Orders.Escalate');
const users = fc.uniqueArray(userId, { maxLength: 2 });
const held = fc.uniqueArray(fc.oneof({ weight: 5, arbitrary: permission }, fc.constant('*')), {
  maxLength: 2,
});

const approval: fc.Arbitrary<Approval> = fc.record({
  id: fc.constant(null).map(() => newId()),
  entityType: fc.constant('Order'),
  entityId: fc.constant('1'),
  transitionName: fc.constant('Approve'),
  formerState: fc.constant('Draft'),
  targetState: fc.constant('Approved'),
  requestedBy: userId,
  requestedByName: fc.constant(''),
  requestedAt: fc.constantFrom(inHours(-2), inHours(-1), NOW),
  comment: fc.constant(null),
  entityVersion: fc.constant(null),
  approverPermission: fc.option(permission),
  approverUsers: users,
  needed: fc.constantFrom(1, 2, 9),
  remindAt: fc.constant(null),
  escalateAt: fc.constant(null),
  escalatePermission: fc.option(permission),
  escalateUsers: users,
  isReminded: fc.constant(false),
  isEscalated: fc.boolean(),
  expiresAt: fc.constant(null),
});
/** A seat votes once, and so does a user. */
const votes: fc.Arbitrary<Vote[]> = fc
  .uniqueArray(fc.record({ seat: userId, voterId: userId }), {
    selector: ({ seat }) => seat,
    maxLength: 2,
  })
  .filter((all) => new Set(all.map(({ voterId }) => voterId)).size === all.length);
const delegation = fc
  .record({
    delegatorId: userId,
    delegateId: userId,
    permissions: held,
    from: fc.constantFrom(inHours(-1), NOW, inHours(1)),
    until: fc.constantFrom(NOW, inHours(2)),
  })
  .filter(({ delegatorId, delegateId, from, until }) => delegatorId !== delegateId && from < until);

/** An open request; it has fewer agreements than it needs. */
const openRequest = fc
  .record({ approval, votes })
  .map((request) => ({ ...request, votes: request.votes.slice(0, request.approval.needed - 1) }));

/** As lists show requests, oldest first. */
const byAge = (one: Approval, other: Approval): number =>
  one.requestedAt.getTime() - other.requestedAt.getTime() || (one.id < other.id ? -1 : 1);

/** The ids of all pages, one after another. */
async function walk(http: ReturnType<Workflow['as']>, sort: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await http.get(
      `/workflow/approvals?pageSize=2&sort=${sort}&cursor=${encodeURIComponent(cursor)}`,
    );
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  return ids;
}

const toRow = (tenantId: string, row: Approval) => ({
  ...row,
  tenantId,
  approverUsers: [...row.approverUsers],
  escalateUsers: [...row.escalateUsers],
});

describe('the inbox of approvals', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow({ clock: { now: () => NOW } });
  });
  afterAll(() => service.close());

  it('shows a request to exactly those from whom the domain would take an agreement', async () => {
    const requests = fc.array(openRequest, { minLength: 1, maxLength: 6 });
    const delegations = fc.array(delegation, { maxLength: 3 });
    const permissionsOf = fc.record({ ann: held, bob: held, cem: held, dee: held });
    await fc.assert(
      fc.asyncProperty(requests, delegations, permissionsOf, async (open, given, permissions) => {
        const tenantId = newId();
        await service.db.inTenant(tenantId, async (tx) => {
          await tx.approval.createMany({
            data: open.map(({ approval: row }) => ({ ...toRow(tenantId, row), entityId: row.id })),
          });
          await tx.approvalVote.createMany({
            data: open.flatMap(({ approval: { id }, votes: all }) =>
              all.map((vote) => ({ ...vote, tenantId, approvalId: id, votedAt: NOW })),
            ),
          });
          await tx.delegation.createMany({
            data: given.map((row) => ({ ...row, tenantId, id: newId(), delegatorName: '', createdAt: NOW })),
          });
        });

        for (const [user, own] of Object.entries(permissions)) {
          const caller = aCaller({
            tenantId,
            userId: user,
            permissions: [...own, 'Workflow.Transitions.Read'],
          });
          const delegators = given
            .filter(({ delegateId, from, until }) => delegateId === user && from <= NOW && NOW < until)
            .map(({ delegatorId, permissions: lent }) => ({ userId: delegatorId, permissions: lent }));
          const { body } = await service.as(caller).get('/workflow/approvals');

          const shown = body.items.map(({ id }: { id: string }) => id);
          const decidable = open.filter(
            (request) => 'seat' in seatToAgree(request.approval, request.votes, caller, delegators),
          );
          const oldestFirst = decidable.map((request) => request.approval).sort(byAge);
          expect(shown).toEqual(oldestFirst.map(({ id }) => id));
          expect(body.totalCount).toBe(decidable.length);
          if (user !== 'ann') continue;
          expect(await walk(service.as(caller), 'requestedAt')).toEqual(shown);
          expect(await walk(service.as(caller), '-requestedAt')).toEqual(shown.toReversed());
        }
      }),
      { numRuns: Number(process.env['PLINTH_TEST_INBOXES'] ?? 40) },
    );
  });

  describe('by filter', () => {
    const tenantId = newId();
    const caller = aCaller({ tenantId, userId: 'eve', permissions: ['Workflow.Transitions.Read'] });
    const [one] = fc.sample(approval, 1) as [Approval];
    const found = ['Order-1', 'order-2', 'my order', 'per%cent', 'per_cent', 'percent', 'back\\slash'];
    const rows: Approval[] = found.map((entityId, index) => ({
      ...one,
      id: newId(),
      entityId,
      entityType: ['Order', 'Invoice'][index % 2]!,
      requestedBy: ['ann', 'bob', 'Ann'][index % 3]!,
      requestedAt: inHours(-(index % 4)),
      needed: 1,
      approverUsers: ['eve'],
    }));
    beforeAll(() =>
      service.db.inTenant(tenantId, (tx) =>
        tx.approval.createMany({ data: rows.map((row) => toRow(tenantId, row)) }),
      ),
    );

    const has = (row: Approval, text: string) => row.entityId.toLowerCase().includes(text);
    const age = ({ requestedAt }: Approval) => (NOW.getTime() - requestedAt.getTime()) / 3_600_000;
    const [hourAgo, twoHoursAgo] = [inHours(-1).toISOString(), inHours(-2).toISOString()];
    it.each<[string, string, (row: Approval) => boolean]>([
      ['entityId.eq', 'Order-1', ({ entityId }) => entityId === 'Order-1'],
      ['entityType.eq', 'Invoice', ({ entityType }) => entityType === 'Invoice'],
      ['entityId.in', 'percent,my order,none', ({ entityId }) => ['percent', 'my order'].includes(entityId)],
      ['requestedBy.in', 'Ann,bob', ({ requestedBy }) => requestedBy !== 'ann'],
      ['entityId.contains', 'ORDER', (row) => has(row, 'order')],
      ['entityId.contains', 'r%c', (row) => has(row, 'r%c')],
      ['entityId.contains', 'r_c', (row) => has(row, 'r_c')],
      ['entityId.contains', 'k\\s', (row) => has(row, 'k\\s')],
      ['entityId.startsWith', 'oRder', ({ entityId }) => entityId.toLowerCase().startsWith('order')],
      ['entityId.startsWith', '%', () => false],
      ['entityId.endsWith', 'ORDER', ({ entityId }) => entityId.toLowerCase().endsWith('order')],
      ['entityId.endsWith', '_cent', ({ entityId }) => entityId.endsWith('_cent')],
      ['requestedAt.eq', hourAgo, (row) => age(row) === 1],
      ['requestedAt.gt', hourAgo, (row) => age(row) < 1],
      ['requestedAt.gte', hourAgo, (row) => age(row) <= 1],
      ['requestedAt.lt', hourAgo, (row) => age(row) > 1],
      ['requestedAt.lte', hourAgo, (row) => age(row) >= 1],
      ['requestedAt.between', `${twoHoursAgo},${hourAgo}`, (row) => age(row) === 1 || age(row) === 2],
    ])('%s=%s shows what it means', async (filter, value, isShown) => {
      const { body } = await service
        .as(caller)
        .get(`/workflow/approvals?filter[${filter}]=${encodeURIComponent(value)}`);

      const shown = rows.filter(isShown).sort(byAge);
      expect(body.items.map(({ id }: { id: string }) => id)).toEqual(shown.map(({ id }) => id));
      expect(body.totalCount).toBe(shown.length);
    });

    it('several of them hold together', async () => {
      const { body } = await service
        .as(caller)
        .get('/workflow/approvals?filter[entityType.eq]=Order&filter[requestedBy.eq]=ann');
      const shown = rows.filter((row) => row.entityType === 'Order' && row.requestedBy === 'ann').sort(byAge);
      expect(body.items.map(({ id }: { id: string }) => id)).toEqual(shown.map(({ id }) => id));
      expect(shown.length).toBeGreaterThan(0);
    });
  });

  it('knows who may decide while a request is open and no longer, and those whom it escalates to from then on', async () => {
    const tenantId = newId();
    const listed = () =>
      service.db.inTenant(
        tenantId,
        (tx) =>
          tx.$queryRaw<{ approver: string }[]>`SELECT approver FROM approval_approver ORDER BY approver`,
      );
    const [request] = fc.sample(approval, 1) as [Approval];
    const key = { tenantId_id: { tenantId, id: request.id } };
    const change = (data: object) =>
      service.db.inTenant(tenantId, (tx) => tx.approval.update({ where: key, data }));
    await service.db.inTenant(tenantId, (tx) =>
      tx.approval.create({
        data: {
          ...request,
          tenantId,
          approverUsers: ['ann'],
          approverPermission: null,
          escalateUsers: ['ann', 'bob'],
          escalatePermission: 'Orders.Escalate',
          isEscalated: false,
        },
      }),
    );
    expect(await listed()).toEqual([{ approver: 'user:ann' }]);
    await change({ isEscalated: true });
    expect((await listed()).map(({ approver }) => approver)).toEqual([
      '*',
      'permission:Orders.Escalate',
      'user:ann',
      'user:bob',
    ]);
    const ended = await change({ end: 'Approved', endedAt: NOW });
    expect(await listed()).toEqual([]);
    // A hundred names of each request would be kept for ever.
    expect(ended).toMatchObject({ id: request.id, approverUsers: [], escalateUsers: [] });
  });
});
