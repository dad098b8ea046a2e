import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '@plinth/runtime/process/log';
import { asyncLocalStorage, type ApplicationFailure, type Context } from '@temporalio/activity';
import { createActivities } from './activities';

const forEver = () => new Promise<never>(() => undefined);

/** What a promise is settled with, where that is soon. */
const soon = <Value>(promise: Promise<Value>) => Promise.race([promise, nextTurn('it waits')]);

type Run = (tenantId: string, jobId: string) => Promise<unknown>;

/** Activities on an import that is asked for its state and then waits for the answer. */
function someActivities() {
  const imports = {
    getState: jest.fn<Promise<unknown>, []>(forEver),
    get: jest.fn<Promise<unknown>, []>(forEver),
  };
  const ofNewProcess = () => createActivities({ imports, log: silentLog(), config: {} } as never);
  /** Runs the attempts of an activity one after the other, each with what the one before left. */
  const anActivity = () => {
    let attempt = 0;
    let heartbeatDetails: unknown;
    const begin = (run: Run): Promise<unknown> => {
      const number = ++attempt;
      const context = {
        info: { attempt: number, heartbeatDetails, taskQueue: 'jobs', activityType: 'findDuplicates' },
        cancellationSignal: new AbortController().signal,
        heartbeat: (details: unknown) => {
          if (number === attempt) heartbeatDetails = details;
        },
      };
      return asyncLocalStorage
        .run(context as unknown as Context, () => run('tenant', 'job'))
        .catch((error: unknown) => error);
    };
    /** Attempts of which nothing is heard again, as their processes ended. */
    const crash = (count: number) => void (attempt += count);
    /** An attempt in a process of its own, which ends after this time. */
    const liveFor = async (milliseconds: number) => {
      void begin(ofNewProcess().findDuplicates);
      await jest.advanceTimersByTimeAsync(milliseconds);
    };
    return Object.assign(begin, { crash, liveFor });
  };
  return { imports, activities: ofNewProcess(), anActivity };
}

describe('an activity', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('that looks for duplicate keys leaves a place to what ends within seconds', async () => {
    const { activities, anActivity } = someActivities();
    for (let count = 0; count < 2; count++) void anActivity()(activities.findDuplicates);

    expect(await anActivity()(activities.findDuplicates)).toMatchObject({ type: 'Share' });
  });

  it('that cuts a file waits for no whole job, since it ends within seconds', async () => {
    const { imports, activities, anActivity } = someActivities();
    for (let count = 0; count < 2; count++) void anActivity()(activities.findDuplicates);

    imports.get.mockResolvedValue({ status: 'Completed' });
    expect(await anActivity()(activities.cutFile)).toMatchObject({ count: 0 });
  });

  it('has five attempts at what it cannot do, however often its tenant had no place for it', async () => {
    const { imports, activities, anActivity } = someActivities();
    const answers = [1, 2].map(() => Promise.withResolvers<unknown>());
    for (const { promise } of answers) {
      imports.getState.mockReturnValueOnce(promise);
      void anActivity()(activities.findDuplicates);
    }
    const attempt = anActivity();
    for (let count = 0; count < 7; count++)
      expect(await attempt(activities.findDuplicates)).toMatchObject({ type: 'Share' });
    for (const { resolve } of answers) resolve({ status: 'Completed', cancelRequestedAt: null });
    jest.useRealTimers();
    await new Promise(setImmediate);

    imports.getState.mockRejectedValue(new Error('a bug'));
    const ends: unknown[] = [];
    for (let count = 0; count < 5; count++) ends.push(await attempt(activities.findDuplicates));
    expect(ends.map((end) => (end as ApplicationFailure).nonRetryable)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  it('is given up, with the reason, once ten of its processes ended before it got further', async () => {
    const { imports, activities, anActivity } = someActivities();
    imports.getState.mockRejectedValue(new Error('a bug'));
    const attempt = anActivity();
    expect(await attempt(activities.findDuplicates)).toMatchObject({ nonRetryable: false });

    attempt.crash(9);
    expect(await attempt(activities.findDuplicates)).toMatchObject({ type: 'Bug', nonRetryable: false });
    attempt.crash(1);
    expect(await attempt(activities.findDuplicates)).toMatchObject({
      type: 'Problem',
      message:
        'The process of this job ended or stood still 10 times before the job got any further. Divide the file.',
      nonRetryable: true,
    });
  });

  it('leaves the one place of those whose processes ended to another, until that got further', async () => {
    const { activities, anActivity } = someActivities();
    const [first, second] = [anActivity(), anActivity()];
    first.crash(2);
    second.crash(2);
    void first(activities.findDuplicates);

    expect(await soon(second(activities.findDuplicates))).toMatchObject({ type: 'Share' });
    // Its attempt lives longer than any before.
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await soon(second(activities.findDuplicates))).toBe('it waits');
  });

  it('is not blamed for processes that ended once it lived twice as long as any attempt before', async () => {
    const { imports, activities, anActivity } = someActivities();
    const attempt = anActivity();
    await attempt.liveFor(20_000);
    attempt.crash(8);
    await attempt.liveFor(41_000);
    attempt.crash(8);

    imports.getState.mockRejectedValue(new Error('a bug'));
    expect(await attempt(activities.findDuplicates)).toMatchObject({ type: 'Bug' });
    attempt.crash(1);
    expect(await attempt(activities.findDuplicates)).toMatchObject({ type: 'Problem', nonRetryable: true });
  });

  it('is not forgiven for living as long as the attempts before it, however long', async () => {
    const { activities, anActivity } = someActivities();
    const attempt = anActivity();
    for (let life = 0; life < 10; life++) await attempt.liveFor(70_000 + 1_000 * life);

    expect(await soon(attempt(activities.findDuplicates))).toMatchObject({ type: 'Problem' });
  });

  it('holds up no other for longer than ten minutes, however long those before it lived', async () => {
    const { activities, anActivity } = someActivities();
    const [first, second] = [anActivity(), anActivity()];
    await first.liveFor(3_600_000);
    first.crash(1);
    second.crash(2);
    void first(activities.findDuplicates);

    expect(await soon(second(activities.findDuplicates))).toMatchObject({ type: 'Share' });
    await jest.advanceTimersByTimeAsync(600_000);
    expect(await soon(second(activities.findDuplicates))).toBe('it waits');
  });

  it('whose processes ended six times runs beside none that lost one, and beside others', async () => {
    const { activities, anActivity } = someActivities();
    const [often, once, never] = [anActivity(), anActivity(), anActivity()];
    often.crash(6);
    once.crash(1);
    void often(activities.findDuplicates);

    expect(await soon(once(activities.findDuplicates))).toMatchObject({ type: 'Share' });
    expect(await soon(never(activities.findDuplicates))).toBe('it waits');
  });

  it('that reads the file of an import as it ends shares the places of its tenant', async () => {
    const { activities, anActivity } = someActivities();
    const ends: Run[] = [
      (tenantId, jobId) => activities.endImport({ tenantId, jobId, isCancelled: true, keysFirst: false }),
      (tenantId, jobId) => activities.failImport(tenantId, jobId, 'It failed.'),
    ];
    for (const end of ends) void anActivity()(end);

    for (const end of ends) expect(await soon(anActivity()(end))).toMatchObject({ type: 'Share' });
    void anActivity()(activities.planImport);
    expect(await soon(anActivity()(activities.planImport))).toMatchObject({ type: 'Share' });
  });
});
