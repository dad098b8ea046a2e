import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { clientOptions } from './platform';

export const dataExchange = createClient(dataExchangeEndpoints, clientOptions);

export type ImportJob = Awaited<ReturnType<typeof dataExchange.getImport>>['body'];

export const importsQuery = infiniteQueryOptions({
  queryKey: ['imports'],
  queryFn: async ({ pageParam, signal }) =>
    (await dataExchange.listImports({ list: { cursor: pageParam, pageSize: 30 }, signal })).body,
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor,
});
