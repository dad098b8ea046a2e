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

  it('are for the end of a job before others of its tenant, which waits for one of them at most', async () => {
    const shares = places();
    const running = [1, 2].map(() => Promise.withResolvers<void>());
    const [first, second] = running.map(({ promise }) => shares.runWhole('acme', () => promise));
    expect(await refusedOf((tenantId, work) => shares.runEnd(tenantId, work), ['acme'])).toEqual(['acme']);
    running[0]!.resolve();
    await first;

    const whole = (tenantId: string, work: () => Promise<void>) => shares.runWhole(tenantId, work);
    expect(await refusedOf(whole, ['acme', 'globex'])).toEqual(['acme']);
    const parts = (tenantId: string, work: () => Promise<void>) => shares.run(tenantId, work);
    expect(await refusedOf(parts, ['acme'])).toEqual([]);
    expect(await refusedOf((tenantId, work) => shares.runEnd(tenantId, work), ['acme'])).toEqual([]);
    expect(await refusedOf(whole, ['acme'])).toEqual([]);
    running[1]!.resolve();
    await second;
  });

  it('are for the end of a job also where parts of jobs have them', async () => {
    const shares = places();
    const parts = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const running = parts.map(({ promise }) => shares.run('acme', () => promise));
    expect(await refusedOf((tenantId, work) => shares.runEnd(tenantId, work), ['acme'])).toEqual(['acme']);
    parts[0]!.resolve();
    await running[0];

    expect(await refusedOf((tenantId, work) => shares.run(tenantId, work), ['acme'])).toEqual(['acme']);
    expect(await refusedOf((tenantId, work) => shares.runWhole(tenantId, work), ['acme'])).toEqual(['acme']);
    expect(await refusedOf((tenantId, work) => shares.runEnd(tenantId, work), ['acme'])).toEqual([]);
    for (const { resolve } of parts) resolve();
    await Promise.all(running);
  });
});
