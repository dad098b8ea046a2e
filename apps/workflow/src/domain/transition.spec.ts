import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import { newId } from '@plinth/kernel/uuid';
import fc from 'fast-check';
import { builtInTransition } from './definitions/transition';
import type { Approval, Delegator, Person, Vote } from './approval';
import { changeOf, type Move } from './change';
import type { Definition } from './definition';
import { decide, optionsOf, type Decision } from './transition';
import { currentStateOf, type TransitionContext } from './transition-context';

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
      builtInTransition(`${from}${to}`, from, to, {
        requiresApproval: requiresApproval && from !== to,
        ...rest,
      }),
    ),
  }));

/** Each step takes one of the options, most often the first, which agrees to an open request. */
const requests = fc.array(
  fc.record({
    caller: fc.constantFrom(...people),
    option: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat({ max: 5 }) }),
    delegators: fc.subarray(people, { maxLength: 3 }),
  }),
  { minLength: 10, maxLength: 60 },
);

const many = { numRuns: 200 };

type EntityContext = Omit<TransitionContext, 'caller' | 'now' | 'approvalId'>;

const requestBy = (caller: Person) => ({ caller, now, approvalId: newId() });

const start = (definition: Definition): EntityContext => ({
  definition,
  entityId: '1',
  exists: true,
  state: definition.initialState,
  approval: undefined,
  movingUntil: null,
  votes: [],
  delegators: [],
  objections: [],
  entityVersion: null,
});

/** What the store does with a decision, in memory. */
function after(
  context: EntityContext,
  { effect }: Decision,
  caller: Person,
): { next: EntityContext; move?: Move } {
  if (!effect) return { next: context };
  const change = changeOf(effect, {
    entityType: 'Thing',
    entityId: '1',
    actor: caller,
    comment: null,
    at: now,
  });
  const votes: Vote[] = change.vote
    ? [...context.votes, { seat: change.vote.seat, voterId: caller.userId }]
    : [...context.votes];
  const approval = change.opened ?? (change.approvalId ? context.approval : undefined);
  const next = { ...context, state: change.state, approval, votes: approval ? votes : [] };
  return { next, ...(change.move ? { move: change.move } : {}) };
}

interface Step {
  caller: Person;
  context: TransitionContext;
  targetState: string;
  decision: Decision;
  move: Move | undefined;
  next: EntityContext;
}

/** Executes a sequence of requests and returns every step of it. */
function execute(
  definition: Definition,
  sequence: readonly { caller: Person; option: number; delegators: Person[] }[],
): Step[] {
  let entity = start(definition);
  return sequence.map(({ caller, option, delegators }) => {
    const context = {
      ...entity,
      ...requestBy(caller),
      delegators: entity.approval ? delegators.filter(({ userId }) => userId !== caller.userId) : [],
    };
    const targets = [...optionsOf(context).map(({ targetState }) => targetState), 'Nowhere'];
    const targetState = targets[option] ?? PENDING_APPROVAL;
    const decision = decide({ targetState, comment: null, approvalId: null }, context);
    const { next, move } = after(entity, decision, caller);
    entity = next;
    return { caller, context, targetState, decision, move, next };
  });
}

/** The rule again, written independently of the code. */
const mayDecide = (
  { approverUsers, approverPermission }: Approval,
  { userId, permissions }: Delegator,
): boolean =>
  approverUsers.includes(userId) ||
  (approverPermission !== null && permissions.some((held) => held === '*' || held === approverPermission));

describe('decide (the decision about a transition)', () => {
  it('accepts exactly the transitions that the status offers', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { context, targetState, decision, next } of execute(definition, sequence)) {
          const option = optionsOf(context).find((candidate) => candidate.targetState === targetState);
          const succeeded = ['Completed', 'ApprovalRequested'].includes(decision.outcome);
          expect(succeeded).toBe(option?.effect !== undefined);
          expect(succeeded).toBe(option?.reasons.length === 0);
          if (!option) expect(decision.outcome).toBe('InvalidTransition');
          if (!succeeded) expect(decision.resultingState).toBe(currentStateOf(context));
          expect(currentStateOf(next)).toBe(decision.resultingState);
        }
      }),
      many,
    );
  });

  it('leads to a history without gaps, in which every move is a transition of the definition', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        let state = definition.initialState;
        for (const { context, move, next } of execute(definition, sequence)) {
          if (move) {
            expect(move.previousState).toBe(state);
            state = move.newState;
          }
          const known = definition.transitions.some(
            ({ from, to }) => from === context.state && to === next.state,
          );
          expect(next.state === context.state || known).toBe(true);
          expect(state).toBe(currentStateOf(next));
        }
      }),
      many,
    );
  });

  it('refuses a move without its permission, and opens an approval for a move that requires one', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, decision } of execute(definition, sequence)) {
          const { effect } = decision;
          if (effect) expect(caller.permissions.some((held) => held === '*' || held === EXECUTE)).toBe(true);
          if (effect?.kind !== 'move' && effect?.kind !== 'request') continue;
          const [from, to] =
            effect.kind === 'move'
              ? [effect.from, effect.to]
              : [effect.approval.formerState, effect.approval.targetState];
          const transition = definition.transitions.find((one) => one.from === from && one.to === to)!;
          expect(transition.requiresApproval).toBe(effect.kind === 'request');
          expect(
            transition.permission === null ||
              caller.permissions.some((held) => ['*', transition.permission].includes(held)),
          ).toBe(true);
        }
      }),
      many,
    );
  });

  it('counts the votes of approvers other than the requester, one per user and one per seat', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, context, decision } of execute(definition, sequence)) {
          const { effect } = decision;
          if (effect?.kind !== 'agree' && effect?.kind !== 'approve') continue;
          const { approval, seat } = effect;
          const holder =
            seat === caller.userId ? caller : context.delegators.find(({ userId }) => userId === seat)!;
          expect(mayDecide(approval, holder)).toBe(true);
          const votes = [...context.votes, { seat, voterId: caller.userId }];
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

  it('lets only approvers deny a request, and only the requester withdraw it', () => {
    fc.assert(
      fc.property(definitions, requests, (definition, sequence) => {
        for (const { caller, context, decision } of execute(definition, sequence)) {
          const { effect } = decision;
          if (effect?.kind === 'withdraw') expect(caller.userId).toBe(effect.approval.requestedBy);
          if (effect?.kind !== 'deny') continue;
          const { approval } = effect;
          expect(caller.userId).not.toBe(approval.requestedBy);
          const inPlaceOf = context.delegators.filter(({ userId }) => userId !== approval.requestedBy);
          expect([caller, ...inPlaceOf].some((person) => mayDecide(approval, person))).toBe(true);
        }
      }),
      many,
    );
  });

  it('refuses a move that the owner objects to, for all callers or for this one', () => {
    const definition: Definition = {
      entityType: 'Thing',
      initialState: 'A',
      states: ['A', 'B'],
      finalStates: ['B'],
      transitions: [builtInTransition('Go', 'A', 'B')],
    };
    const contextWithObjection = (concernsCaller: boolean): TransitionContext => ({
      ...start(definition),
      ...requestBy(people[0]!),
      objections: [{ targetState: 'B', reason: 'Not today.', concernsCaller }],
    });
    const go = { targetState: 'B', comment: null, approvalId: null };

    expect(decide(go, contextWithObjection(false)).outcome).toBe('InvalidTransition');
    expect(decide(go, contextWithObjection(true)).outcome).toBe('Denied');
    expect(optionsOf(contextWithObjection(true))[0]!.reasons).toEqual(['Not today.']);
  });
});
