import { findDuplicates } from './find-duplicates';

const ids = { tenantId: 'tenant', jobId: 'job' };
const job = (cancelRequestedAt: Date | null) => ({ status: 'Executing', cancelRequestedAt }) as never;

describe('finding duplicate keys', () => {
  /** A statement that lasts until it is ended. */
  const lasting = () =>
    jest.fn(
      (_tenantId: string, _jobId: string, { signal }: { signal: AbortSignal }) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('Connection terminated')));
        }),
    );

  it('ends when the job is cancelled', async () => {
    let cancelRequestedAt: Date | null = null;
    const keys = { findDuplicates: lasting() };
    const imports = { getState: async () => job(cancelRequestedAt) };
    const { signal } = new AbortController();

    const finding = findDuplicates({ imports, keys } as never, ids, signal, 1);
    cancelRequestedAt = new Date();

    await expect(finding).resolves.toBe(0);
    await findDuplicates({ imports, keys } as never, ids, signal);
    expect(keys.findDuplicates).toHaveBeenCalledTimes(1);
  });

  it('asks no second time before the first is answered', async () => {
    const answer = Promise.withResolvers<never>();
    const getState = jest.fn<Promise<never>, []>(() => answer.promise).mockResolvedValueOnce(job(null));
    const keys = { findDuplicates: lasting() };
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { signal } = new AbortController();

    const finding = findDuplicates({ imports: { getState }, keys } as never, ids, signal, 1);
    await new Promise(setImmediate);
    jest.advanceTimersByTime(10);
    await new Promise(setImmediate);
    expect(getState).toHaveBeenCalledTimes(2);

    answer.resolve(job(new Date()));
    await expect(finding).resolves.toBe(0);
    jest.useRealTimers();
  });

  it('fails when the activity is cancelled, so that it is done elsewhere', async () => {
    const keys = { findDuplicates: lasting() };
    const activity = new AbortController();

    const finding = findDuplicates(
      { imports: { getState: async () => job(null) }, keys } as never,
      ids,
      activity.signal,
    );
    setImmediate(() => activity.abort());

    await expect(finding).rejects.toThrow('Connection terminated');
  });
});
