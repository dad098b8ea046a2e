import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { startJourney, type ApiResponse, type Journey } from './platform';

const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 20);
/** Most of a round is waiting for what services tell each other. */
const ROUNDS_AT_ONCE = 4;

/** Each round is about a template of its own. */
async function eachRound(run: (name: string) => Promise<void>): Promise<void> {
  const names = Array.from({ length: ROUNDS }, (_, round) => `round-${round}`);
  const work = async () => {
    for (let name = names.shift(); name; name = names.shift()) await run(name);
  };
  await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, work));
}

interface Attempt {
  by: string;
  to: string;
  succeeded: boolean;
}

/** The services template and workflow have a record each, in their own databases; both must agree after every race. */
describe('concurrent decisions on the publication of a template', () => {
  let journey: Journey;
  beforeAll(async () => {
    journey = await startJourney();
  });

  const aTenant = async () => {
    const tenantId = newId();
    const names = ['admin', 'ann', 'bob', 'cem', 'dee'];
    const tokens = await Promise.all(names.map((sub) => journey.tokenOf({ sub, name: sub, tenantId })));
    const call = (by: string, method: string, path: string, body?: unknown): Promise<ApiResponse> =>
      journey.call(method, `/api/v1${path}`, { token: tokens[names.indexOf(by)]!, body });
    const move = async (by: string, name: string, to: string): Promise<Attempt> => {
      const { status, body } = await call(by, 'POST', `/workflow/Template/${name}/transition`, {
        targetState: to,
      });
      expect(status).toBe(200);
      if (body.outcome !== 'Completed') expect(body.outcome).toBe('InvalidTransition');
      return { by, to, succeeded: body.outcome === 'Completed' };
    };
    const publish = async (by: string, name: string): Promise<Attempt> => {
      const { status } = await call(by, 'POST', `/templates/${name}/publish`);
      if (status !== 204) expect(status).toBe(409);
      return { by, to: 'Published', succeeded: status === 204 };
    };
    const submit = async (name: string) => {
      expect((await call('ann', 'POST', '/templates', { name, content: name })).status).toBe(201);
      expect((await move('ann', name, 'PendingReview')).succeeded).toBe(true);
    };
    /** The records of each service about a template, oldest first, once all events of its moves have arrived. */
    const recordsOf = async (name: string, moves: number) => {
      const history = async () => (await call('dee', 'GET', `/workflow/Template/${name}/history`)).body.items;
      const timeline = async () => (await call('dee', 'GET', `/timeline/Template/${name}`)).body.items;
      await eventually(async () => (await history()).length >= moves && (await timeline()).length >= moves);
      return {
        history: (await history()).toReversed() as { newState: string; transitionedBy: string }[],
        authors: (await timeline()).toReversed().map(({ authorId }: { authorId: string }) => authorId),
        template: (await call('dee', 'GET', `/templates/${name}`)).body,
        state: (await call('dee', 'GET', `/workflow/Template/${name}/transitions`)).body.currentState,
      };
    };
    await call('admin', 'PUT', '/settings/tenant/Service.Templates.ApprovalRequired', { value: 'true' });
    return { call, move, publish, submit, recordsOf };
  };

  it('publish it once, with the same publisher in every service', async () => {
    const { move, publish, submit, recordsOf } = await aTenant();
    await eachRound(async (name) => {
      await submit(name);

      const attempts = await Promise.all([
        publish('bob', name),
        move('cem', name, 'Published'),
        move('dee', name, 'Published'),
        publish('admin', name),
      ]);

      const winners = attempts.filter(({ succeeded }) => succeeded);
      expect(winners).toHaveLength(1);
      const [{ by }] = winners as [Attempt];
      const { history, authors, template, state } = await recordsOf(name, 2);
      expect(history).toMatchObject([
        { transitionedBy: 'ann' },
        { newState: 'Published', transitionedBy: by },
      ]);
      expect(authors).toEqual(['ann', by]);
      expect(template.published.publishedBy).toBe(by);
      expect(state).toBe('Published');
    });
  });

  it('either publish or return it, with the same record in every service', async () => {
    const { move, publish, submit, recordsOf } = await aTenant();
    await eachRound(async (name) => {
      await submit(name);

      const attempts = await Promise.all([publish('bob', name), move('cem', name, 'Draft')]);

      const wins = attempts.filter(({ succeeded }) => succeeded);
      expect(wins.length).toBeGreaterThan(0);
      const { history, authors, state } = await recordsOf(name, 1 + wins.length);
      // Published and then unpublished is possible, too; every service records the same moves once.
      const moves = history.slice(1).map(({ newState, transitionedBy }) => `${transitionedBy} ${newState}`);
      expect(moves.toSorted()).toEqual(wins.map(({ by, to }) => `${by} ${to}`).toSorted());
      expect(authors).toEqual(history.map(({ transitionedBy }) => transitionedBy));
      expect(state).toBe(history.at(-1)!.newState);
    });
  });

  it('approve a formal request once', async () => {
    const { call, move, submit, recordsOf } = await aTenant();
    const { initialState, states, finalStates, transitions } = (
      await call('admin', 'GET', '/workflow/definitions/Template')
    ).body;
    const formal = (transitions as { name: string }[]).map((transition) => ({
      ...transition,
      requiresApproval: transition.name === 'Publish',
    }));
    const saved = await call('admin', 'PUT', '/workflow/definitions/Template', {
      initialState,
      states,
      finalStates,
      transitions: formal,
    });
    expect(saved.status).toBe(200);
    await eachRound(async (name) => {
      await submit(name);
      // The person who submitted a template cannot request its publication either.
      const asked = await call('bob', 'POST', `/workflow/Template/${name}/transition`, {
        targetState: 'Published',
      });
      expect(asked.body.outcome).toBe('ApprovalRequested');

      const attempts = await Promise.all(['cem', 'dee', 'admin'].map((by) => move(by, name, 'Published')));

      const winners = attempts.filter(({ succeeded }) => succeeded);
      expect(winners).toHaveLength(1);
      const [{ by }] = winners as [Attempt];
      const { history, authors, template } = await recordsOf(name, 3);
      expect(history.map(({ newState, transitionedBy }) => `${transitionedBy} ${newState}`)).toEqual([
        'ann PendingReview',
        'bob PendingApproval',
        `${by} Published`,
      ]);
      expect(authors).toEqual(['ann', 'bob', by]);
      expect(template.published.publishedBy).toBe(by);
    });
  });
});
