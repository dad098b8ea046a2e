import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import { newId } from '@plinth/kernel/uuid';
import fc from 'fast-check';
import { transition } from '../machines/transition';
import type { Delegator, Person, Vote } from './approval';
import { changeOf, type Move } from './change';
import type { Definition } from './definition';
import { currentStateOf, decide, optionsOf, type Decision, type Situation } from './transition';

const now = new Date('2026-01-01T12:00:00Z');
const EXECUTE = 'Workflow.Transitions.Execute';
const APPROVE = 'Workflow.Transitions.Approve';

const person = (userId: string, ...permissions: string[]): Person => ({
  userId,
  userName: userId.toUpperCase(),
  permissions,
});

const people = [
  person('ann', EXECUTE),
  person('bob', EXECUTE, APPROVE),
  person('cem', EXECUTE, APPROVE),
  person('dee', EXECUTE),
  person('eve', APPROVE),
  person('root', '*'),
];
const names = people.map(({ userId }) => userId);

const states = ['A', 'B', 'C', 'D'];

const approvers = fc.record({
  permission: fc.constantFrom(APPROVE, null),
  users: fc.subarray(names),
  mode: fc.constantFrom('Any' as const, 'All' as const, 'Count' as const),
  count: fc.integer({ min: 1, max: 3 }),
});

const definitions: fc.Arbitrary<Definition> = fc
  .uniqueArray(
    fc.record({
      from: fc.constantFrom(...states),
      to: fc.constantFrom(...states),
      requiresApproval: fc.boolean(),
      permission: fc.constantFrom(null, APPROVE),
      approvers: fc.option(approvers),
    }),
    { minLength: 1, maxLength: 10, selector: ({ from, to }) => `${from}${to}` },
  )
  .map((edges) => ({
    entityType: 'Thing',
    initialState: 'A',
    states,
    finalStates: [],
    transitions: edges.map(({ from, to, requiresApproval, ...rest }) =>
      transition(`${from}${to}`, from, to, { requiresApproval: requiresApproval && from !== to, ...rest }),
    ),
  }));

const requests = fc.array(
  fc.record({
    caller: fc.constantFrom(...people),
    targetState: fc.constantFrom(...states, 'Nowhere', PENDING_APPROVAL),
    delegators: fc.subarray(people, { maxLength: 2 }),
  }),
  { maxLength: 40 },
);

const start = (definition: Definition): Situation => ({
  definition,
  entityId: '1',
  state: definition.initialState,
  approval: undefined,
  votes: [],
  delegators: [],
  objections: [],
});

/** What the store does with a decision, in memory. */
function after(situation: Situation, { effect }: Decision, caller: Person): { next: Situation; move?: Move } {
  if (!effect) return { next: situation };
  const change = changeOf(effect, {
    entityType: 'Thing',
    entityId: '1',
    actor: caller,
    comment: null,
    at: now,
  });
  const votes: Vote[] = change.vote
    ? [...situation.votes, { seat: change.vote.seat, voterId: caller.userId }]
    : [...situation.votes];
  const approval = change.opened ?? (change.approvalId ? situation.approval : undefined);
  const next = { ...situation, state: change.state, approval, votes: approval ? votes : [] };
  return { next, ...(change.move ? { move: change.move } : {}) };
}

const asking = (caller: Person) => ({ caller, comment: null, now, approvalId: newId() });

describe('the decision about a transition', () => {
  it('does what the status promised, and nothing else is possible', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        let situation = start(definition);
        for (const { caller, targetState, delegators } of sequence) {
          const seen = { ...situation, delegators: withoutSelf(delegators, caller) };
          const option = optionsOf(seen, asking(caller)).find((one) => one.targetState === targetState);
          const decision = decide(seen, { targetState, comment: null }, asking(caller));

          const succeeded = ['Completed', 'ApprovalRequested'].includes(decision.outcome);
          expect(succeeded).toBe(option?.effect !== undefined);
          expect(option === undefined || succeeded || option.reasons.length > 0).toBe(true);
          if (!option) expect(decision.outcome).toBe('InvalidTransition');
          if (!succeeded) expect(decision.resultingState).toBe(currentStateOf(seen));
          const { next } = after(seen, decision, caller);
          expect(succeeded ? decision.resultingState : currentStateOf(seen)).toBe(currentStateOf(next));
          situation = next;
        }
      }),
    );
  });

  it('writes a history without a gap, in which every step is a transition of the definition', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        let situation = start(definition);
        let stands = definition.initialState;
        for (const { caller, targetState, delegators } of sequence) {
          const seen = { ...situation, delegators: withoutSelf(delegators, caller) };
          const decision = decide(seen, { targetState, comment: null }, asking(caller));
          const { next, move } = after(seen, decision, caller);
          if (move) {
            expect(move.previousState).toBe(stands);
            stands = move.newState;
          }
          const moved = next.state !== situation.state;
          const known = definition.transitions.some(
            ({ from, to }) => from === situation.state && to === next.state,
          );
          expect(!moved || known).toBe(true);
          situation = next;
        }
        expect(stands).toBe(currentStateOf(situation));
      }),
    );
  });

  it('never moves what needs approval without enough other people, each once and on a seat of their own', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        let situation = start(definition);
        for (const { caller, targetState, delegators } of sequence) {
          const seen = { ...situation, delegators: withoutSelf(delegators, caller) };
          const decision = decide(seen, { targetState, comment: null }, asking(caller));
          const { effect } = decision;
          if (effect?.kind === 'agree' || effect?.kind === 'approve') {
            const votes = [...seen.votes, { seat: effect.seat, voterId: caller.userId }];
            const voters = votes.map(({ voterId }) => voterId);
            const seats = votes.map(({ seat }) => seat);
            expect(voters).not.toContain(effect.approval.requestedBy);
            expect(seats).not.toContain(effect.approval.requestedBy);
            expect(new Set(voters).size).toBe(votes.length);
            expect(new Set(seats).size).toBe(votes.length);
            expect(effect.kind === 'approve').toBe(votes.length >= effect.approval.needed);
          }
          if (effect?.kind === 'move') {
            const way = definition.transitions.find(
              ({ from, to }) => from === effect.from && to === effect.to,
            );
            expect(way?.requiresApproval).toBe(false);
          }
          situation = after(seen, decision, caller).next;
        }
      }),
    );
  });

  it('lets an objection of the owner stop a move: nobody can make it, or this caller may not', () => {
    const definition: Definition = {
      entityType: 'Thing',
      initialState: 'A',
      states: ['A', 'B'],
      finalStates: ['B'],
      transitions: [transition('Go', 'A', 'B')],
    };
    const objecting = (concernsCaller: boolean): Situation => ({
      ...start(definition),
      objections: [{ targetState: 'B', reason: 'Not today.', concernsCaller }],
    });
    const go = { targetState: 'B', comment: null };

    expect(decide(objecting(false), go, asking(people[0]!)).outcome).toBe('InvalidTransition');
    expect(decide(objecting(true), go, asking(people[0]!)).outcome).toBe('Denied');
    expect(optionsOf(objecting(true), asking(people[0]!))[0]!.reasons).toEqual(['Not today.']);
  });
});

const withoutSelf = (delegators: readonly Person[], { userId }: Person): Delegator[] =>
  delegators.filter((delegator) => delegator.userId !== userId);
