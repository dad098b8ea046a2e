import type { Api } from '@plinth/http/api';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Deps } from '../compose';

const { listJobsOfAllTenants } = dataExchangeEndpoints;

/** What operators see of the jobs of all tenants. */
export function mountExchangeJobs(api: Api, { exchangeJobs }: Pick<Deps, 'exchangeJobs'>): void {
  api.on(listJobsOfAllTenants, async ({ list }) => {
    const { rows, totalCount } = await exchangeJobs.list(list);
    return list.toPage(
      rows,
      totalCount,
      (job) => job,
      ({ createdAt, id }) => [createdAt.toISOString(), id],
    );
  });
}
