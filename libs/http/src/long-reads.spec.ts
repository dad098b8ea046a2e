import { parseListQuery } from '@plinth/kernel/list-query';
import { z } from 'zod';
import { isLongRead, LONG_READS, longReadPlaces } from './long-reads';
import { toListRequest } from './paging';

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

  it('are all of what is searched without being a list', () => {
    expect(isLongRead({ query: z.object({ search: z.string().optional() }) }, undefined)).toBe(true);
    expect(isLongRead({ query: z.object({ name: z.string() }) }, undefined)).toBe(false);
    expect(isLongRead({}, undefined)).toBe(false);
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
