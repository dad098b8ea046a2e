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

    await expect(guard.run(space, 'fingerprint', execute)).rejects.toMatchObject({
      slug: 'idempotency-unavailable',
    });

    expect(execute).not.toHaveBeenCalled();
    expect(errors.map(({ message }) => message)).toEqual(['claim']);
  });
});
