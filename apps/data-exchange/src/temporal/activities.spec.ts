import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog } from '@plinth/runtime/process/log';
import { asyncLocalStorage, type ApplicationFailure, type Context } from '@temporalio/activity';
import { createActivities } from './activities';
import { Attempt } from './attempt';
import { CRASHES_OF_JOB } from './job-failure';

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
    const begin = (run: Run, cancellationSignal = new AbortController().signal): Promise<unknown> => {
      const number = ++attempt;
      const context = {
        info: { attempt: number, heartbeatDetails, taskQueue: 'jobs', activityType: 'findDuplicates' },
        cancellationSignal,
        heartbeat: (details: unknown) => {
          if (number === attempt) heartbeatDetails = details;
        },
      };
      return asyncLocalStorage
        .run(context as unknown as Context, () => run('tenant', 'job'))
        .catch((error: unknown) => error);
    };
    /** Attempts of which nothing is heard again once they began, as their processes ended. */
    const crash = (count: number) => {
      heartbeatDetails ??= { ended: attempt };
      attempt += count;
    };
    /** Attempts of a version before, which leave nothing to the next one. */
    const failBefore = (count: number) => void (attempt += count);
    /** An attempt in a process of its own, which ends after this time. */
    const liveFor = async (milliseconds: number) => {
      void begin(ofNewProcess().findDuplicates);
      await jest.advanceTimersByTimeAsync(milliseconds);
    };
    return Object.assign(begin, { crash, failBefore, liveFor });
  };
  /** For another tenant, which has places of its own. */
  const ofOther =
    ({ findDuplicates }: ReturnType<typeof ofNewProcess>): Run =>
    (_tenantId, jobId) =>
      findDuplicates('other', jobId);
  return { imports, activities: ofNewProcess(), ofNewProcess, anActivity, ofOther };
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

  it('goes on, however often a version before tried it, until ten of its own processes ended', async () => {
    const { imports, activities, anActivity } = someActivities();
    const attempt = anActivity();
    attempt.failBefore(360);
    for (let life = 0; life < 9; life++) await attempt.liveFor(0);
    expect(await soon(attempt(activities.findDuplicates))).toBe('it waits');

    imports.getState.mockRejectedValue(new Error('a bug'));
    expect(await attempt(activities.findDuplicates)).toMatchObject({ type: 'Problem', nonRetryable: true });
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

  it('whose processes ended six times runs alone: others leave the process to it as they end', async () => {
    const { imports, activities, anActivity, ofOther } = someActivities();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    imports.getState.mockReturnValueOnce(promise);
    const [often, before, after] = [anActivity(), anActivity(), anActivity()];
    often.crash(6);
    const ending = before(activities.findDuplicates);
    void often(activities.findDuplicates);

    expect(await soon(after(ofOther(activities)))).toMatchObject({ type: 'Share' });
    // However rarely others come to this process, and whichever do.
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await soon(after(ofOther(activities)))).toMatchObject({ type: 'Share' });
    expect(imports.getState).toHaveBeenCalledTimes(1);
    resolve({ status: 'Completed', cancelRequestedAt: null });
    await ending;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(imports.getState).toHaveBeenCalledTimes(2);
    expect(await soon(after(ofOther(activities)))).toMatchObject({ type: 'Share' });
    await jest.advanceTimersByTimeAsync(600_000);
    expect(await soon(after(ofOther(activities)))).toBe('it waits');
  });

  it('that runs alone begins within ten minutes, however long those run that are there', async () => {
    const { imports, activities, anActivity, ofOther } = someActivities();
    const often = anActivity();
    often.crash(6);
    void anActivity()(ofOther(activities));
    void often(activities.findDuplicates);

    await jest.advanceTimersByTimeAsync(602_000);
    expect(imports.getState).toHaveBeenCalledTimes(2);
  });

  it('is not blamed for a process that ended while it waited there, and is for one that ended as it began', async () => {
    const { imports, ofNewProcess, anActivity, ofOther } = someActivities();
    const often = anActivity();
    often.crash(9);
    for (let process = 0; process < 3; process++) {
      const inProcess = ofNewProcess();
      void anActivity()(ofOther(inProcess));
      void often(inProcess.findDuplicates);
      await jest.advanceTimersByTimeAsync(300_000);
    }
    imports.getState.mockRejectedValueOnce(new Error('a bug'));
    expect(await often(ofNewProcess().findDuplicates)).toMatchObject({ type: 'Bug' });

    const inProcess = ofNewProcess();
    void anActivity()(ofOther(inProcess));
    void often(inProcess.findDuplicates);
    await jest.advanceTimersByTimeAsync(602_000);
    expect(await often(ofNewProcess().findDuplicates)).toMatchObject({ type: 'Problem', nonRetryable: true });
  });

  it('that runs alone waits in no process where another one does, and holds up its end no longer', async () => {
    const { activities, anActivity, ofOther } = someActivities();
    const [one, other] = [anActivity(), anActivity()];
    one.crash(6);
    other.crash(6);
    void anActivity()(ofOther(activities));
    const controller = new AbortController();
    const waiting = one(activities.findDuplicates, controller.signal);

    expect(await soon(other(ofOther(activities)))).toMatchObject({ type: 'Share' });
    controller.abort(new Error('The worker stops.'));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await soon(waiting)).toMatchObject({ message: 'The worker stops.' });
    expect(await soon(other(ofOther(activities)))).toBe('it waits');
  });

  it('keeps no process from others where its tenant has no place for it', async () => {
    const { activities, anActivity, ofOther } = someActivities();
    for (let count = 0; count < 2; count++) void anActivity()(activities.findDuplicates);
    const often = anActivity();
    often.crash(6);
    expect(await soon(often(activities.findDuplicates))).toMatchObject({ type: 'Share' });

    expect(await soon(anActivity()(ofOther(activities)))).toBe('it waits');
  });

  it('is not given up for others, however many of them end its processes', async () => {
    const { ofNewProcess, anActivity } = someActivities();
    const innocent = anActivity();
    let inProcess = ofNewProcess();
    let running = innocent(inProcess.findDuplicates);
    for (let count = 0; count < 24; count++) {
      const poisoned = anActivity();
      poisoned.crash(count % 2);
      if ((await soon(poisoned(inProcess.findDuplicates))) !== 'it waits') continue;
      // Both leave the process without a word.
      inProcess = ofNewProcess();
      running = innocent(inProcess.findDuplicates);
    }

    expect(await soon(running)).toBe('it waits');
  });

  it('that ends a job which was given up runs alone, and ends no more processes than that did alone', async () => {
    const { activities, anActivity } = someActivities();
    const [end, other] = [anActivity(), anActivity()];
    const ofSuspect: Run = (tenantId, jobId) =>
      activities.failImport(tenantId, jobId, 'Its processes ended.', true, true);

    expect(await soon(end(ofSuspect))).toBe('it waits');
    expect(await soon(other(activities.findDuplicates))).toMatchObject({ type: 'Share' });
    const inProcess = (attempt: number) =>
      new Attempt(
        { info: { attempt, heartbeatDetails: { ended: 0 } } } as unknown as Context,
        CRASHES_OF_JOB,
      );
    expect([4, 5].map((attempt) => inProcess(attempt).isGivenUp)).toEqual([false, true]);
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
