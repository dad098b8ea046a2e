import { ApiProblem } from '@plinth/sdk/api-problem';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { definitionQuery, workflow } from './workflow';

jest.mock('./platform', () => ({ clientOptions: { baseUrl: 'http://platform.test' } }));

let queries: QueryClient;
beforeEach(() => {
  queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
});
afterEach(() => {
  jest.restoreAllMocks();
  queries.clear();
});

const problem = (slug: string) =>
  new ApiProblem(
    { type: `https://plinth.test/problems/${slug}`, title: slug, status: 404, detail: '', instance: '' },
    undefined,
  );

it('knows of an entity type without a definition that it has none, while that is read again too', async () => {
  const read = jest.spyOn(workflow, 'getDefinition').mockRejectedValue(problem('entity-type-unknown'));
  const observer = new QueryObserver(queries, definitionQuery('Loan'));
  const stop = observer.subscribe(() => undefined);
  await queries.fetchQuery({ ...definitionQuery('Loan'), staleTime: Infinity }).catch(() => undefined);
  const again = observer.refetch();
  const { data, error, isFetching } = observer.getCurrentResult();
  expect({ data, error, isFetching }).toEqual({ data: null, error: null, isFetching: true });
  await again;
  expect(read).toHaveBeenCalledTimes(2);
  stop();
});

it('fails where a definition cannot be read', async () => {
  jest.spyOn(workflow, 'getDefinition').mockRejectedValue(problem('not-found'));
  await expect(queries.fetchQuery(definitionQuery('Loan'))).rejects.toThrow('not-found');
});
