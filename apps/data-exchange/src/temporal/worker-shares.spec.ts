import { ACTIVITIES_MAX, WorkerShares } from './worker-shares';

describe.each([
  ['long jobs', WorkerShares.long],
  ['small files', WorkerShares.short],
])('the places of %s', (_, places) => {
  /** Begins work of tenants, none of which ends before the others began; tells of whom it was refused. */
  const refusedOf = async (
    begin: (tenantId: string, work: () => Promise<void>) => Promise<void>,
    tenants: string[],
  ) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const results = Promise.allSettled(tenants.map((tenantId) => begin(tenantId, () => ended)));
    end();
    return (await results).flatMap(({ status }, at) => (status === 'rejected' ? [tenants[at]] : []));
  };

  it('leave one to another tenant, and one of the worker to short activities', async () => {
    const shares = places();
    const tenants = ['acme', 'acme', 'acme', 'globex', 'globex', 'initech'];
    const refused = await refusedOf((tenantId, work) => shares.runWhole(tenantId, work), tenants);
    expect(refused).toEqual(['acme', 'globex', 'initech']);
    expect(tenants.length - refused.length).toBe(ACTIVITIES_MAX - 1);
  });

  it('leave one to other tenants, whatever one of them has running', async () => {
    const shares = places();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const whole = [1, 2].map(() => shares.runWhole('acme', () => ended));
    const parts = ['acme', 'acme', 'globex', 'globex'];
    expect(await refusedOf((tenantId, work) => shares.run(tenantId, work), parts)).toEqual([
      'acme',
      'globex',
    ]);
    expect(await refusedOf((tenantId, work) => shares.run(tenantId, work), ['acme', 'globex'])).toEqual([]);
    end();
    await Promise.all(whole);
  });
});
