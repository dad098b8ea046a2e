import { ACTIVITIES_MAX, WholeJobs } from './whole-jobs';

describe.each([
  ['long jobs', WholeJobs.long],
  ['small files', WholeJobs.short],
])('the places of %s', (_, places) => {
  it('leave one to another tenant, and one of the worker to short activities', async () => {
    const jobs = places();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let running = 0;
    const work = async (): Promise<void> => {
      running++;
      await ended;
    };
    const tenants = ['acme', 'acme', 'acme', 'globex', 'globex', 'initech'];
    const runs = tenants.map((tenantId) => jobs.run(tenantId, work));
    const results = Promise.allSettled(runs);
    expect(running).toBe(ACTIVITIES_MAX - 1);
    end();
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
  });
});
