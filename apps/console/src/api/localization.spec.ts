import { QueryClient } from '@tanstack/react-query';

const { fetch, location, sessionStorage } = globalThis;
let asked: URLSearchParams[];

beforeEach(() => {
  asked = [];
  globalThis.location = { origin: 'https://plinth.example' } as Location;
  globalThis.sessionStorage = { getItem: () => null } as unknown as Storage;
  globalThis.fetch = async (input) => {
    asked.push(new URL(input as string).searchParams);
    return Response.json({ items: [], totalCount: 0, hasMore: false });
  };
});

afterEach(() => {
  Object.assign(globalThis, { fetch, location, sessionStorage });
});

describe('the pages of the list of texts', () => {
  it('ask how many texts there are once, with the first one, since all of them are counted for it', async () => {
    const { textPageQuery } = await import('./localization');
    const queries = new QueryClient({ defaultOptions: { queries: { gcTime: Infinity, retry: false } } });
    const filter = { search: '', resourceName: '', show: 'all' } as const;
    for (const page of [0, 1, 700]) await queries.fetchQuery(textPageQuery(filter, page));

    expect(asked.map((query) => [query.get('page'), query.get('skipTotalCount')])).toEqual([
      ['1', null],
      ['2', 'true'],
      ['701', 'true'],
    ]);
  });
});
