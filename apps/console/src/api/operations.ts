import { operationsEndpoints } from '@plinth/contracts/platform/operations-endpoints';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { dataExchange } from './data-exchange';
import { clientOptions } from './platform';
import { pageCount } from './read-again';

export const operations = createClient(operationsEndpoints, { ...clientOptions, prefix: '' });

export type PlatformOperations = Awaited<ReturnType<typeof operations.getOperations>>['body'];
export type DeadLetter = Awaited<ReturnType<typeof operations.listDeadLetters>>['body']['items'][number];
export type ExchangeJob = Awaited<
  ReturnType<typeof dataExchange.listJobsOfAllTenants>
>['body']['items'][number];

const REFRESH_MILLISECONDS = 5_000;

/** How the platform is, read again every few seconds. */
export const operationsQuery = queryOptions({
  queryKey: ['operations'],
  queryFn: async ({ signal }) => (await operations.getOperations({ signal })).body,
  refetchInterval: REFRESH_MILLISECONDS,
});

/** @param count how many there are, so that they are read again when that changes */
export const deadLettersQuery = (count: number) =>
  queryOptions({
    queryKey: ['operations', 'dead-letters', count],
    queryFn: async ({ signal }) => (await operations.listDeadLetters({ signal })).body,
  });

/** Which jobs of all tenants are shown. */
export const jobViews = {
  unfinished: { 'status.in': 'Queued,Exporting,Executing,Undoing' },
  failed: { 'status.in': 'Failed,PartiallyCompleted,PartiallyUndone' },
  all: {},
} as const satisfies Record<string, Record<string, string>>;
export type JobView = keyof typeof jobViews;

export interface JobSelection {
  view: JobView;
  /** Without one, imports, exports and undos. */
  kind: ExchangeJob['kind'] | undefined;
  /** Without one, those of every tenant. */
  tenantId: string | undefined;
}

/** What the page of operations shows at first. */
export const everyUnfinished: JobSelection = { view: 'unfinished', kind: undefined, tenantId: undefined };

/** Of more than these, none is likely to be younger than the oldest that still works. */
const OLDEST_JOBS = 100;

/** The jobs that have not ended for the longest time, of all tenants: those that are stuck are among them. */
export const oldestUnfinishedQuery = queryOptions({
  queryKey: ['operations', 'oldest-unfinished'],
  queryFn: async ({ signal }) => {
    const list = { cursor: '', sort: 'createdAt', pageSize: OLDEST_JOBS, filter: jobViews.unfinished };
    return (await dataExchange.listJobsOfAllTenants({ list, signal })).body.items;
  },
  refetchInterval: REFRESH_MILLISECONDS,
});

export const jobsQuery = ({ view, kind, tenantId }: JobSelection) =>
  infiniteQueryOptions({
    queryKey: ['operations', 'jobs', view, kind, tenantId],
    queryFn: async ({ pageParam, signal }) => {
      const filter = {
        ...jobViews[view],
        ...(kind && { 'kind.eq': kind }),
        ...(tenantId && { 'tenantId.eq': tenantId }),
      };
      const list = { cursor: pageParam, pageSize: 10, filter };
      return (await dataExchange.listJobsOfAllTenants({ list, signal })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => REFRESH_MILLISECONDS * pageCount(state.data),
  });
