import { backgroundTask, type BackgroundTask, type BackgroundTaskOptions } from './background-task';

const INTERVAL_MILLISECONDS = 1_000;

describe('a background task', () => {
  let task: BackgroundTask;
  let warnings: string[];

  /** A task of which each run takes 100 ms and then gives the next result. */
  const start = (...results: (boolean | Error)[]): { startedAt: number[] } => startAt({}, ...results);
  const startAt = (
    pace: Partial<BackgroundTaskOptions>,
    ...results: (boolean | Error)[]
  ): { startedAt: number[] } => {
    const startedAt: number[] = [];
    const origin = Date.now();
    const work = async (): Promise<boolean> => {
      startedAt.push(Date.now() - origin);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const result = results.shift() ?? false;
      if (result instanceof Error) throw result;
      return result;
    };
    const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
    task = backgroundTask(work, {
      name: 'test work',
      intervalMilliseconds: INTERVAL_MILLISECONDS,
      log: log as never,
      ...pace,
    });
    return { startedAt };
  };

  beforeEach(() => {
    jest.useFakeTimers();
    warnings = [];
  });
  afterEach(async () => {
    const closed = task.close();
    await jest.advanceTimersByTimeAsync(1_000);
    await closed;
    jest.useRealTimers();
  });

  it('repeats its work at the interval', async () => {
    const { startedAt } = start();

    await jest.advanceTimersByTimeAsync(3_500);

    expect(startedAt).toEqual([1_000, 2_000, 3_000]);
  });

  it('works at once when it is woken', async () => {
    const { startedAt } = start();

    task.wake();
    await jest.advanceTimersByTimeAsync(500);

    expect(startedAt).toEqual([0]);
  });

  it('goes on at once while its work says that there is more', async () => {
    const { startedAt } = start(true, true, false);

    task.wake();
    await jest.advanceTimersByTimeAsync(900);

    expect(startedAt).toEqual([0, 100, 200]);
  });

  it('never works twice at once, and works once more when it was woken meanwhile', async () => {
    const { startedAt } = start();

    task.wake();
    await jest.advanceTimersByTimeAsync(50);
    task.wake();
    task.wake();
    await jest.advanceTimersByTimeAsync(800);

    expect(startedAt).toEqual([0, 100]);
  });

  it('logs what failed by its name and tries again at the next interval', async () => {
    const { startedAt } = start(new Error('away'));

    await jest.advanceTimersByTimeAsync(2_500);

    expect(startedAt).toEqual([1_000, 2_000]);
    expect(warnings).toEqual(['test work failed; will retry']);
  });

  it('waits for running work when it is closed, and begins nothing more', async () => {
    const { startedAt } = start(true, true);
    let isClosed = false;

    task.wake();
    await jest.advanceTimersByTimeAsync(50);
    void Promise.resolve(task.close()).then(() => (isClosed = true));
    task.wake();
    await jest.advanceTimersByTimeAsync(40);
    expect(isClosed).toBe(false);
    await jest.advanceTimersByTimeAsync(5_000);

    expect(isClosed).toBe(true);
    expect(startedAt).toEqual([0]);
  });

  it('does not keep a process that stops from its end, however long its work takes', async () => {
    const { promise: stuck, resolve: release } = Promise.withResolvers<void>();
    const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
    task = backgroundTask(() => stuck, { name: 'test work', intervalMilliseconds: 1_000, log: log as never });
    let isClosed = false;

    task.wake();
    void Promise.resolve(task.close()).then(() => (isClosed = true));
    await jest.advanceTimersByTimeAsync(9_999);
    expect(isClosed).toBe(false);
    // And what has arrived by then comes first.
    await jest.advanceTimersByTimeAsync(2);

    expect(isClosed).toBe(true);
    expect(warnings).toEqual(['test work did not end in time; another process does what is left']);
    release();
  });

  it('pauses before it serves those who woke it meanwhile, all at once', async () => {
    const { startedAt } = startAt({ pauseMilliseconds: 50 });

    task.wake();
    await jest.advanceTimersByTimeAsync(10);
    task.wake();
    await jest.advanceTimersByTimeAsync(110);
    task.wake();
    await jest.advanceTimersByTimeAsync(500);

    expect(startedAt).toEqual([0, 150]);
  });

  it('tries again after a failure sooner than at the interval', async () => {
    const { startedAt } = startAt({ retryMilliseconds: 200 }, new Error('no'));

    task.wake();
    await jest.advanceTimersByTimeAsync(500);

    expect(startedAt).toEqual([0, 300]);
  });

  it('has whoever wakes it behind a failure wait until it tries again, once', async () => {
    const failures = Array.from({ length: 100 }, () => new Error('no'));
    const { startedAt } = startAt({ intervalMilliseconds: 60_000, retryMilliseconds: 200 }, ...failures);

    for (let at = 0; at < 1_000; at += 50) {
      task.wake();
      await jest.advanceTimersByTimeAsync(50);
    }
    await jest.advanceTimersByTimeAsync(1_900);

    expect(startedAt).toEqual([0, 300, 600, 900, 1_200, 1_500, 1_800, 2_100, 2_400, 2_700]);
  });

  it('works at once again when it is woken behind a success that followed a failure', async () => {
    const { startedAt } = startAt({ retryMilliseconds: 200 }, new Error('no'));

    task.wake();
    await jest.advanceTimersByTimeAsync(410);
    task.wake();
    await jest.advanceTimersByTimeAsync(300);

    expect(startedAt).toEqual([0, 300, 410]);
  });

  it('does not try again when it was closed behind a failure, however often it was woken', async () => {
    const { startedAt } = startAt({ retryMilliseconds: 200 }, new Error('no'), new Error('no'));

    task.wake();
    await jest.advanceTimersByTimeAsync(50);
    task.wake();
    await jest.advanceTimersByTimeAsync(200);
    await task.close();

    // Timers that are counted may be of others.
    await jest.advanceTimersByTimeAsync(2 * INTERVAL_MILLISECONDS);
    expect(startedAt).toEqual([0]);
  });
});
