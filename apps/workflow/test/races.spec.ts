import { aCaller } from '@plinth/testing/http';
import { newId } from '@plinth/kernel/uuid';
import { faultsOf, type Observation, type Step } from './linearizability';
import { startWorkflow, type Workflow } from './start-workflow';

/** `RACE_CLIENTS=64 RACE_ENTITIES=200 npx jest apps/workflow/test/races` is the full size. */
const CLIENTS = Number(process.env['RACE_CLIENTS'] ?? 16);
const ENTITIES = Number(process.env['RACE_ENTITIES'] ?? 10);
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 3);

/** A ring with a shortcut, so that from each state some targets are possible and others are not. */
const states = ['A', 'B', 'C', 'D'];
const ways = [
  ['A', 'B'],
  ['B', 'C'],
  ['C', 'D'],
  ['D', 'A'],
  ['A', 'C'],
];
const canMove = (from: string, to: string): boolean => ways.some(([a, b]) => a === from && b === to);

describe('many clients who move the same entities at once', () => {
  let first: Workflow;
  let second: Workflow;
  beforeAll(async () => {
    first = await startWorkflow();
    // Two replicas: nothing may depend on what one process knows.
    second = await startWorkflow({ databaseUrl: first.databaseUrl });
  });
  afterAll(async () => {
    await second.close();
    await first.close();
  });

  it('are told the truth: the history is exactly the sequence of wins', async () => {
    const caller = aCaller();
    const admin = first.as(caller);
    await admin.put('/workflow/definitions/Ring', {
      initialState: 'A',
      states,
      transitions: ways.map(([from, to]) => ({ name: `${from}${to}`, from, to })),
    });
    const entities = Array.from({ length: ENTITIES }, () => newId());
    const seen: Observation[] = [];
    const client = async (index: number): Promise<void> => {
      const http = (index % 2 === 0 ? first : second).as(caller);
      for (let round = 0; round < ROUNDS; round++) {
        for (const entityId of entities) {
          // Says who asked and makes each request one of a kind.
          const name = `${index}.${round}`;
          const targetState = states[(index + round) % states.length]!;
          const sentAt = performance.now();
          const { body } = await http.post(`/workflow/Ring/${entityId}/transition`, {
            targetState,
            comment: name,
          });
          seen.push({ entityId, client: name, targetState, sentAt, answeredAt: performance.now(), ...body });
        }
      }
    };

    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));

    const seenOf = Map.groupBy(seen, ({ entityId }) => entityId);
    let wins = 0;
    for (const entityId of entities) {
      const steps = await historyOf(first, caller, entityId);
      wins += steps.length;
      expect(faultsOf('A', steps, seenOf.get(entityId)!, canMove)).toEqual([]);
    }
    expect(wins).toBeGreaterThan(ENTITIES);
    expect(seen).toHaveLength(CLIENTS * ENTITIES * ROUNDS);
  }, 600_000);

  it('would not be believed if one of them were told a lie', () => {
    const win: Observation = {
      entityId: '1',
      client: 'x',
      targetState: 'B',
      sentAt: 1,
      answeredAt: 2,
      outcome: 'Completed',
      resultingState: 'B',
    };
    const step: Step = { previousState: 'A', newState: 'B', transitionedBy: 'u', comment: 'x' };
    expect(faultsOf('A', [step], [win], canMove)).toEqual([]);
    expect(faultsOf('A', [], [win], canMove)).not.toEqual([]);
    expect(faultsOf('A', [step, { ...step, comment: 'y' }], [win], canMove)).not.toEqual([]);
    const late = {
      ...win,
      client: 'y',
      targetState: 'C',
      sentAt: 3,
      answeredAt: 4,
      outcome: 'InvalidTransition',
    };
    expect(faultsOf('A', [step], [win, late], canMove)).toEqual(['y lost without a winner']);
  });
});

/** Oldest first. */
async function historyOf(
  service: Workflow,
  caller: ReturnType<typeof aCaller>,
  entityId: string,
): Promise<Step[]> {
  const items: Step[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path = `/workflow/Ring/${entityId}/history?pageSize=100&cursor=${cursor}`;
    const { body }: { body: { items: Step[]; nextCursor: string | null } } = await service
      .as(caller)
      .get(path);
    items.push(...body.items);
    cursor = body.nextCursor;
  }
  return items.toReversed();
}
