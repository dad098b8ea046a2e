import { IdempotencyGuard, type GuardDeps } from './guard';

describe('a request with a key while Redis is away', () => {
  it('is refused, and says so once', async () => {
    const errors: Error[] = [];
    const away = (step: string) => async () => {
      throw new Error(step);
    };
    const guard = new IdempotencyGuard({
      records: { claim: away('claim'), release: away('release') },
      outcomes: { inc: () => undefined },
      onCheckpoint: () => undefined,
      onStoreError: (error: Error) => void errors.push(error),
    } as unknown as GuardDeps);
    const space = { tenantId: 'acme', userId: 'ada', method: 'POST', path: '/things', key: 'k' };
    const execute = jest.fn();

    await expect(guard.run(guard.begin(space, 'fingerprint'), execute)).rejects.toMatchObject({
      slug: 'idempotency-unavailable',
    });

    expect(execute).not.toHaveBeenCalled();
    expect(errors.map(({ message }) => message)).toEqual(['claim']);
  });
});

describe('a request with a key that waits before it runs', () => {
  const aGuard = (hold: () => Promise<boolean>) =>
    new IdempotencyGuard({
      records: { claim: async () => ({ state: 'claimed' }), hold, release: async () => undefined },
      outcomes: { inc: () => undefined },
      onCheckpoint: () => undefined,
      onStoreError: () => undefined,
    } as unknown as GuardDeps);
  const space = { tenantId: 'acme', userId: 'ada', method: 'POST', path: '/things', key: 'k' };
  const runAfterWaiting = (hold: () => Promise<boolean>, effect: () => void) => {
    const guard = aGuard(hold);
    return guard.run(guard.begin(space, 'fingerprint'), async (_operationId, holdKey) => {
      await holdKey();
      effect();
      return undefined;
    });
  };

  it('does not run where its key has passed to another attempt meanwhile', async () => {
    const effect = jest.fn();
    await expect(runAfterWaiting(async () => false, effect)).rejects.toMatchObject({
      slug: 'idempotency-in-progress',
    });
    expect(effect).not.toHaveBeenCalled();
  });

  it('runs where it has the key still, or Redis is away', async () => {
    const effect = jest.fn();
    await runAfterWaiting(async () => true, effect);
    await runAfterWaiting(async () => {
      throw new Error('away');
    }, effect);
    expect(effect).toHaveBeenCalledTimes(2);
  });
});
