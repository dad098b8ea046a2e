import { aCaller } from '@plinth/testing/http';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { findViolations, type ObservedRequest, type Step } from './linearizability';
import { withTwoWorkflows, type Workflow } from './start-workflow';

/** `RACE_CLIENTS=64 RACE_ENTITIES=200 npx jest apps/workflow/test/races` is the full size. */
const CLIENTS = Number(process.env['RACE_CLIENTS'] ?? 16);
const ENTITIES = Number(process.env['RACE_ENTITIES'] ?? 10);
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 3);
const MILLISECONDS_MAX = 300_000 + CLIENTS * ENTITIES * ROUNDS * 10;

/** A ring with a shortcut, so that some targets are possible from each state and others are not. */
const states = ['A', 'B', 'C', 'D'];
const edges = [
  ['A', 'B'],
  ['B', 'C'],
  ['C', 'D'],
  ['D', 'A'],
  ['A', 'C'],
];
const canMove = (from: string, to: string): boolean => edges.some(([a, b]) => a === from && b === to);

describe('many clients that move the same entities at once', () => {
  const workflows = withTwoWorkflows();

  it(
    'get results that agree with the history: it is exactly the sequence of the winning requests',
    async () => {
      const caller = aCaller();
      await saveRing(caller);
      const entities = Array.from({ length: ENTITIES }, () => newId());

      const clients = Array.from({ length: CLIENTS }, (_, index) => moveRepeatedly(caller, entities, index));
      const requests = (await Promise.all(clients)).flat();

      const requestsByEntity = Map.groupBy(requests, ({ entityId }) => entityId);
      let wins = 0;
      for (const entityId of entities) {
        const steps = await historyOf(workflows.first, caller, entityId);
        wins += steps.length;
        expect(findViolations('A', steps, requestsByEntity.get(entityId)!, canMove)).toEqual([]);
      }
      expect(wins).toBeGreaterThan(ENTITIES);
      expect(requests).toHaveLength(CLIENTS * ENTITIES * ROUNDS);
    },
    MILLISECONDS_MAX,
  );

  const saveRing = (caller: Caller) =>
    workflows.first.as(caller).put('/workflow/definitions/Ring', {
      initialState: 'A',
      states,
      transitions: edges.map(([from, to]) => ({ name: `${from}${to}`, from, to })),
    });

  /** One client: requests another state of every entity, round after round, on its replica. */
  const moveRepeatedly = async (
    caller: Caller,
    entities: readonly string[],
    index: number,
  ): Promise<ObservedRequest[]> => {
    const http = (index % 2 === 0 ? workflows.first : workflows.second).as(caller);
    const requests: ObservedRequest[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const entityId of entities) {
        // As the comment of the request it makes each one unique in the history.
        const client = `${index}.${round}`;
        const targetState = states[(index + round) % states.length]!;
        const sentAt = performance.now();
        const path = `/workflow/Ring/${entityId}/transition`;
        const { body } = await http.post(path, { targetState, comment: client });
        requests.push({ entityId, client, targetState, sentAt, respondedAt: performance.now(), ...body });
      }
    }
    return requests;
  };

  it('would be found out by this check if one of them got a wrong result', () => {
    const win: ObservedRequest = {
      entityId: '1',
      client: 'x',
      targetState: 'B',
      sentAt: 1,
      respondedAt: 2,
      outcome: 'Completed',
      resultingState: 'B',
    };
    const step: Step = { previousState: 'A', newState: 'B', transitionedBy: 'u', comment: 'x' };
    expect(findViolations('A', [step], [win], canMove)).toEqual([]);
    expect(findViolations('A', [], [win], canMove)).not.toEqual([]);
    expect(findViolations('A', [step, { ...step, comment: 'y' }], [win], canMove)).not.toEqual([]);
    const late = {
      ...win,
      client: 'y',
      targetState: 'C',
      sentAt: 3,
      answeredAt: 4,
      outcome: 'InvalidTransition',
    };
    expect(findViolations('A', [step], [win, late], canMove)).toEqual(['y lost without a winner']);
  });
});

/** The history of an entity, oldest first. */
async function historyOf(service: Workflow, caller: Caller, entityId: string): Promise<Step[]> {
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
