import { allEndpoints } from '@plinth/contracts/all';
import type { Endpoint, Endpoints } from '@plinth/contracts/endpoint';
import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import { parseListQuery } from '@plinth/kernel/list-query';
import { isLongRead, LONG_READS, longReadPlaces } from './long-reads';
import { toListRequest } from './paging';
import { findPage } from './prisma-list';
import { COUNTED_IN_PASSING_MAX, NeedsLongRead } from './total-count';

const rules = {
  filterable: { name: { type: 'string' } },
  sortable: ['name', 'createdAt'],
  defaultSort: '-createdAt',
  searchable: ['name'],
} as const;

const asked = (parameters: Record<string, string>) =>
  isLongRead({ list: rules }, toListRequest(parseListQuery(parameters, rules), '', ['key']));

const turn = () => new Promise(setImmediate);

describe('lists for which all rows may be read', () => {
  it.each([
    { search: 'a' },
    { 'filter[name.contains]': 'a' },
    { 'filter[name.eq]': 'a' },
    { sort: 'name' },
    { sort: 'createdAt,name' },
    { page: '1000', pageSize: '100' },
  ])('are those with %j', (parameters) => {
    expect(asked(parameters)).toBe(true);
  });

  it.each([{}, { search: '' }, { sort: 'createdAt' }, { page: '3' }])(
    'are not those with %j',
    (parameters) => {
      expect(asked(parameters)).toBe(false);
    },
  );

  it('are those in a default order of several fields that is asked for in mixed directions', () => {
    const two = { ...rules, sortable: ['name', 'createdAt'], defaultSort: '-createdAt,name' } as const;
    const isLong = (sort: string) =>
      isLongRead({ list: two }, toListRequest(parseListQuery({ sort }, two), '', ['key']));
    expect(['-createdAt,name', 'createdAt,-name'].map(isLong)).toEqual([false, false]);
    expect(['-createdAt,-name', 'createdAt,name', 'createdAt'].map(isLong)).toEqual([true, true, true]);
  });

  it('are all pages of a list of which no index has what its caller sees', () => {
    const list = toListRequest(parseListQuery({}, rules), '', ['key']);
    expect([rules, { ...rules, passesOver: true }].map((one) => isLongRead({ list: one }, list))).toEqual([
      false,
      true,
    ]);
    expect(workflowEndpoints.getApprovals.list?.passesOver).toBe(true);
  });

  it('are nothing that is no list, so that only what an index has may be searched otherwise', () => {
    expect(isLongRead({}, undefined)).toBe(false);
    const searched = Object.values<Endpoints>(allEndpoints)
      .flatMap((endpoints) => Object.values<Endpoint>(endpoints))
      .filter(({ list, query }) => !list && query !== undefined && 'search' in query.shape);
    expect(searched.map(({ path }) => path)).toEqual(['/timeline/mentions']);
  });

  it('of one tenant leave a place to the next', async () => {
    const places = longReadPlaces();
    const begun: string[] = [];
    const end = Promise.withResolvers<void>();
    const read = (tenantId: string) =>
      places.run({ tenantId, userId: 'ada' }, () => {
        begun.push(tenantId);
        return end.promise;
      });
    const reads = Array.from({ length: 24 }, () => read('acme'));
    reads.push(read('other'));
    await turn();

    expect(begun).toEqual(['acme', 'acme', 'other']);
    expect(begun).toHaveLength(LONG_READS);
    end.resolve();
    await Promise.all(reads);
  });
});

describe('the rows of a list', () => {
  const list = toListRequest(parseListQuery({}, rules), '', ['key']);
  const pageOf = async (rowCount: number, request = list) => {
    const counted: unknown[] = [];
    const page = findPage(request, {
      selection: { tenantId: 'acme' },
      dates: [],
      find: async () => [],
      count: async ({ where: _where, ...rest }) => {
        counted.push(rest);
        return Math.min(rowCount, rest.take ?? Infinity);
      },
    });
    return { totalCount: await page.then(({ totalCount }) => totalCount, String), counted };
  };
  const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }];
  const take = COUNTED_IN_PASSING_MAX + 1;

  it('are counted in passing, in the order of the list, where they are few', async () => {
    const few = { totalCount: COUNTED_IN_PASSING_MAX, counted: [{ orderBy, take }] };
    expect(await pageOf(COUNTED_IN_PASSING_MAX)).toEqual(few);
  });

  it('are all counted only where all may be', async () => {
    const many = { totalCount: String(new NeedsLongRead()), counted: [{ orderBy, take }] };
    expect(await pageOf(10_000_000)).toEqual(many);
    const all = { totalCount: 10_000_000, counted: [{}] };
    expect(await pageOf(10_000_000, { ...list, countsAll: true })).toEqual(all);
  });

  it('are not counted where no total is wanted', async () => {
    expect(await pageOf(1, { ...list, wantsTotalCount: false })).toEqual({ totalCount: null, counted: [] });
  });
});
