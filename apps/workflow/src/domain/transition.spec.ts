import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import { newId } from '@plinth/kernel/uuid';
import fc from 'fast-check';
import { transition } from '../machines/transition';
import type { Approval, Delegator, Person, Vote } from './approval';
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

/** Each step takes one of the ways there are, most often the first, which agrees to an open request. */
const requests = fc.array(
  fc.record({
    caller: fc.constantFrom(...people),
    way: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: 5 }) }),
    delegators: fc.subarray(people, { maxLength: 3 }),
  }),
  { minLength: 10, maxLength: 60 },
);

const many = { numRuns: 200 };

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

interface Turn {
  caller: Person;
  seen: Situation;
  targetState: string;
  decision: Decision;
  move: Move | undefined;
  next: Situation;
}

/** Plays a sequence of requests and answers every turn of it. */
function play(
  definition: Definition,
  sequence: readonly { caller: Person; way: number; delegators: Person[] }[],
): Turn[] {
  let situation = start(definition);
  return sequence.map(({ caller, way, delegators }) => {
    const seen = {
      ...situation,
      delegators: situation.approval ? delegators.filter(({ userId }) => userId !== caller.userId) : [],
    };
    const targets = [...optionsOf(seen, asking(caller)).map(({ targetState }) => targetState), 'Nowhere'];
    const targetState = targets[way] ?? PENDING_APPROVAL;
    const decision = decide(seen, { targetState, comment: null }, asking(caller));
    const { next, move } = after(seen, decision, caller);
    situation = next;
    return { caller, seen, targetState, decision, move, next };
  });
}

/** Said again, in other words than the code's. */
const mayDecide = (
  { approverUsers, approverPermission }: Approval,
  { userId, permissions }: Delegator,
): boolean =>
  approverUsers.includes(userId) ||
  (approverPermission !== null && permissions.some((held) => held === '*' || held === approverPermission));

describe('the decision about a transition', () => {
  it('does what the status promised, and nothing else is possible', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, seen, targetState, decision, next } of play(definition, sequence)) {
          const option = optionsOf(seen, asking(caller)).find((one) => one.targetState === targetState);
          const succeeded = ['Completed', 'ApprovalRequested'].includes(decision.outcome);
          expect(succeeded).toBe(option?.effect !== undefined);
          expect(succeeded).toBe(option?.reasons.length === 0);
          if (!option) expect(decision.outcome).toBe('InvalidTransition');
          if (!succeeded) expect(decision.resultingState).toBe(currentStateOf(seen));
          expect(currentStateOf(next)).toBe(decision.resultingState);
        }
      }),
      many,
    );
  });

  it('writes a history without a gap, in which every step is a transition of the definition', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        let stands = definition.initialState;
        for (const { seen, move, next } of play(definition, sequence)) {
          if (move) {
            expect(move.previousState).toBe(stands);
            stands = move.newState;
          }
          const known = definition.transitions.some(
            ({ from, to }) => from === seen.state && to === next.state,
          );
          expect(next.state === seen.state || known).toBe(true);
          expect(stands).toBe(currentStateOf(next));
        }
      }),
      many,
    );
  });

  it('lets nobody begin a move without its permission, or finish one alone that needs approval', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, decision } of play(definition, sequence)) {
          const { effect } = decision;
          if (effect) expect(caller.permissions.some((held) => held === '*' || held === EXECUTE)).toBe(true);
          if (effect?.kind !== 'move' && effect?.kind !== 'request') continue;
          const [from, to] =
            effect.kind === 'move'
              ? [effect.from, effect.to]
              : [effect.approval.formerState, effect.approval.targetState];
          const way = definition.transitions.find((one) => one.from === from && one.to === to)!;
          expect(way.requiresApproval).toBe(effect.kind === 'request');
          expect(
            way.permission === null ||
              caller.permissions.some((held) => ['*', way.permission].includes(held)),
          ).toBe(true);
        }
      }),
      many,
    );
  });

  it('counts only other people who may decide, each once and on a seat of their own', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, seen, decision } of play(definition, sequence)) {
          const { effect } = decision;
          if (effect?.kind !== 'agree' && effect?.kind !== 'approve') continue;
          const { approval, seat } = effect;
          const holder =
            seat === caller.userId ? caller : seen.delegators.find(({ userId }) => userId === seat)!;
          expect(mayDecide(approval, holder)).toBe(true);
          const votes = [...seen.votes, { seat, voterId: caller.userId }];
          for (const taken of [votes.map(({ voterId }) => voterId), votes.map((vote) => vote.seat)]) {
            expect(taken).not.toContain(approval.requestedBy);
            expect(new Set(taken).size).toBe(votes.length);
          }
          expect(effect.kind === 'approve').toBe(votes.length >= approval.needed);
        }
      }),
      many,
    );
  });

  it('lets only who may decide deny, and only who asked withdraw', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, seen, decision } of play(definition, sequence)) {
          const { effect } = decision;
          if (effect?.kind === 'withdraw') expect(caller.userId).toBe(effect.approval.requestedBy);
          if (effect?.kind !== 'deny') continue;
          const { approval } = effect;
          expect(caller.userId).not.toBe(approval.requestedBy);
          const inPlaceOf = seen.delegators.filter(({ userId }) => userId !== approval.requestedBy);
          expect([caller, ...inPlaceOf].some((person) => mayDecide(approval, person))).toBe(true);
        }
      }),
      many,
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
