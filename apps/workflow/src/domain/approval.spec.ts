import fc from 'fast-check';
import { dueStep, nextStepAt, seatToAgree, type Approval, type Vote } from './approval';

const NOW = 1_000_000;
const USERS = ['ada', 'bob', 'cy', 'dee', 'eve'];
const user = fc.constantFrom(...USERS);
const moment = fc.option(fc.integer({ min: NOW - 10, max: NOW + 10 }).map((at) => new Date(at)));

const anApproval: fc.Arbitrary<Approval> = fc.record({
  id: fc.constant('a'),
  entityType: fc.constant('Invoice'),
  entityId: fc.constant('1'),
  transitionName: fc.constant('Approve'),
  formerState: fc.constant('Draft'),
  targetState: fc.constant('Approved'),
  requestedBy: user,
  requestedByName: fc.constant(''),
  requestedAt: fc.constant(new Date(0)),
  comment: fc.constant(null),
  entityVersion: fc.constant(null),
  approverPermission: fc.option(fc.constant('Invoices.Approve')),
  approverUsers: fc.uniqueArray(user),
  needed: fc.integer({ min: 1, max: 3 }),
  remindAt: moment,
  escalateAt: moment,
  escalatePermission: fc.option(fc.constant('Invoices.Decide')),
  escalateUsers: fc.uniqueArray(user),
  isReminded: fc.boolean(),
  isEscalated: fc.boolean(),
  expiresAt: moment,
});

const person = fc.record({
  userId: user,
  permissions: fc.subarray(['Invoices.Approve', 'Invoices.Decide']),
});

describe('the votes of a request', () => {
  it('are one of each person and one in each place, and none of who requested it or in their place', () => {
    const attempt = fc.record({ voter: person, delegators: fc.array(person, { maxLength: 3 }) });
    fc.assert(
      fc.property(anApproval, fc.array(attempt, { maxLength: 12 }), (approval, attempts) => {
        const votes: Vote[] = [];
        for (const { voter, delegators } of attempts) {
          const decision = seatToAgree(approval, votes, { ...voter, userName: '' }, delegators);
          if ('reason' in decision) continue;
          expect([voter, ...delegators].map(({ userId }) => userId)).toContain(decision.seat);
          votes.push({ seat: decision.seat, voterId: voter.userId });
        }
        const [voters, seats] = [votes.map(({ voterId }) => voterId), votes.map(({ seat }) => seat)];
        expect(new Set(voters).size).toBe(votes.length);
        expect(new Set(seats).size).toBe(votes.length);
        expect([...voters, ...seats]).not.toContain(approval.requestedBy);
      }),
    );
  });
});

describe('the steps of time', () => {
  const performed = {
    remind: { isReminded: true },
    escalate: { isEscalated: true },
  };

  it('are due when the next one has come, and not before', () => {
    fc.assert(
      fc.property(anApproval, (approval) => {
        const next = nextStepAt(approval);
        expect(dueStep(approval, new Date(NOW)) !== undefined).toBe(next !== null && next.getTime() <= NOW);
      }),
    );
  });

  it('end: each is taken once, and the request expires where it may', () => {
    fc.assert(
      fc.property(anApproval, (approval) => {
        const taken: string[] = [];
        let now = approval;
        const end = new Date(NOW + 11);
        for (let step = dueStep(now, end); step && step !== 'expire'; step = dueStep(now, end)) {
          taken.push(step);
          now = { ...now, ...performed[step] };
          expect(taken.length).toBeLessThanOrEqual(2);
        }
        expect(new Set(taken).size).toBe(taken.length);
        expect(dueStep(now, end)).toBe(approval.expiresAt === null ? undefined : 'expire');
      }),
    );
  });
});
