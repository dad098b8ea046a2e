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
  requestedAt: fc.constant(NOW),
  comment: fc.constant(null),
  entityVersion: fc.constant(null),
  approverPermission: fc.option(permission),
  approverUsers: users,
  needed: fc.constant(9),
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

describe('the inbox of approvals', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow({ clock: { now: () => NOW } });
  });
  afterAll(() => service.close());

  it('shows a request to exactly those from whom the domain would take an agreement', async () => {
    const requests = fc.array(fc.record({ approval, votes }), { minLength: 1, maxLength: 6 });
    const delegations = fc.array(delegation, { maxLength: 3 });
    const permissionsOf = fc.record({ ann: held, bob: held, cem: held, dee: held });
    await fc.assert(
      fc.asyncProperty(requests, delegations, permissionsOf, async (open, given, permissions) => {
        const tenantId = newId();
        await service.db.inTenant(tenantId, async (tx) => {
          await tx.approval.createMany({
            data: open.map(({ approval: row }) => ({
              ...row,
              tenantId,
              entityId: row.id,
              approverUsers: [...row.approverUsers],
              escalateUsers: [...row.escalateUsers],
            })),
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
          expect(shown.toSorted()).toEqual(decidable.map(({ approval: { id } }) => id).toSorted());
          expect(body.totalCount).toBe(decidable.length);
        }
      }),
      { numRuns: Number(process.env['PLINTH_TEST_INBOXES'] ?? 40) },
    );
  });
});
