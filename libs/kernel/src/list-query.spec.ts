import fc from 'fast-check';
import {
  parseListQuery,
  parseSelection,
  parseTimestamp,
  SELECTION_LENGTH_MAX,
  splitList,
  type ListRules,
} from './list-query';
import { Problem } from './problem';

const rules: ListRules = {
  filterable: {
    name: { type: 'string' },
    status: { type: 'enum', values: { Draft: 0, Published: 2 } },
    size: { type: 'integer' },
    changedAt: { type: 'timestamp' },
  },
  sortable: ['name', 'changedAt'],
  defaultSort: '-changedAt',
  searchable: ['name'],
  cursor: true,
  presets: { age: ['new', 'old'] },
  quickFilters: ['mine'],
  shortFilters: ['status'],
};

/** Spellings of a name in different cases. */
const spellings = (name: string, count: number): string[] =>
  [
    ...new Set(
      Array.from({ length: 4_096 }, (_, mask) =>
        [...name].map((letter, at) => ((mask >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
      ),
    ),
  ].slice(0, count);

const refusal = (parameters: Record<string, string | string[]>): string => {
  try {
    parseListQuery(parameters, rules);
  } catch (error) {
    if (error instanceof Problem) return error.kind;
    throw error;
  }
  return 'accepted';
};

describe('a list query', () => {
  it('has defaults for everything', () => {
    expect(parseListQuery({}, rules)).toEqual({
      page: { mode: 'offset', page: 1, pageSize: 20, skipTotalCount: false },
      sort: [{ field: 'changedAt', descending: true }],
      filters: [],
      presets: [],
      quickFilters: [],
      search: undefined,
    });
  });

  it('can have every part', () => {
    const query = parseListQuery(
      {
        page: '3',
        pageSize: '1000',
        skipTotalCount: 'true',
        sort: 'name,-changedAt',
        'filter[Name.In]': 'a\\,b,c',
        'filter[status.eq]': 'published',
        'filter[size.between]': '1,9',
        'presets[age]': 'new',
        quickFilters: 'mine',
        search: '50%',
      },
      rules,
    );

    expect(query.page).toEqual({ mode: 'offset', page: 3, pageSize: 100, skipTotalCount: true });
    expect(query.sort.map(({ field }) => field)).toEqual(['name', 'changedAt']);
    expect(query.filters).toEqual([
      { field: 'name', operator: 'in', values: ['a,b', 'c'] },
      { field: 'status', operator: 'eq', values: [2] },
      { field: 'size', operator: 'between', values: [1, 9] },
    ]);
    expect(query.presets).toEqual([{ name: 'age', values: ['new'] }]);
    expect(query.quickFilters).toEqual(['mine']);
    expect(query.search).toBe('50%');
  });

  it.each(['101', '9007199254740993', '9'.repeat(400)])(
    'caps any page size above the maximum',
    (pageSize) => {
      expect(parseListQuery({ pageSize }, rules).page).toMatchObject({ pageSize: 100 });
    },
  );

  it.each([
    ['page', '0'],
    ['page', '9007199254740993'],
    ['page', '9'.repeat(400)],
    ['page', '-1'],
    ['page', '1.5'],
    ['page', '1e2'],
    ['page', '0x10'],
    ['page', ''],
    ['page', '9000000'],
    ['pageSize', 'NaN'],
    ['sort', 'size'],
    ['sort', 'name;drop'],
    ['filter', 'status eq Draft'],
    ['filter[name.eq', 'x'],
    ['filter.name.eq', 'x'],
    ['Presets', ''],
    ['filter[owner.eq]', 'x'],
    ['filter[name]', 'x'],
    ['filter[name.gt]', 'x'],
    ['filter[size.eq]', 'many'],
    ['filter[size.between]', '1'],
    ['filter[status.eq]', 'Nowhere'],
    ['filter[changedAt.gt]', 'yesterday'],
    ['presets[size]', 'x'],
    ['presets[age]', 'ancient'],
    ['quickFilters', 'theirs'],
    ['skipTotalCount', 'maybe'],
    ['status', 'Nowhere'],
    ['status', ''],
    ['groupBy', 'status'],
    ['GROUPBY', ''],
    ['sort', Array(21).fill('name').join(',')],
    ['quickFilters', Array(21).fill('mine').join(',')],
  ])('refuses %s=%s as malformed', (name, value) => {
    expect(refusal({ [name]: value })).toBe('malformed');
  });

  it('refuses a repeated parameter, and a page together with a cursor', () => {
    expect(refusal({ page: ['1', '2'] })).toBe('malformed');
    expect(refusal({ page: '1', cursor: '' })).toBe('malformed');
  });

  it('takes a field that has a parameter of its own as one more filter', () => {
    expect(parseListQuery({ status: 'DRAFT', 'filter[status.eq]': 'Published' }, rules).filters).toEqual([
      { field: 'status', operator: 'eq', values: [0] },
      { field: 'status', operator: 'eq', values: [2] },
    ]);
  });

  it('takes filters, presets and quick filters that say the same as one', () => {
    const query = parseListQuery(
      {
        status: 'draft',
        'filter[status.eq]': 'Draft',
        ...Object.fromEntries(spellings('name.contains', 60).map((key) => [`filter[${key}]`, 'x'])),
        ...Object.fromEntries(spellings('age', 8).map((key) => [`presets[${key}]`, 'new,old,NEW,new'])),
        quickFilters: 'mine,Mine',
        sort: 'name,-NAME',
      },
      rules,
    );

    expect(query.filters).toEqual([
      { field: 'status', operator: 'eq', values: [0] },
      { field: 'name', operator: 'contains', values: ['x'] },
    ]);
    expect(query.presets).toEqual([{ name: 'age', values: ['new', 'old'] }]);
    expect(query.quickFilters).toEqual(['mine']);
    expect(query.sort).toEqual([{ field: 'name', descending: false }]);
  });

  it('has at most 50 filters, however they are spelled', () => {
    const filters = (count: number) =>
      Object.fromEntries(
        spellings('name.contains', count).map((key, value) => [`filter[${key}]`, `x${value}`]),
      );

    expect(parseListQuery(filters(50), rules).filters).toHaveLength(50);
    expect(refusal(filters(51))).toBe('malformed');
  });

  it.each(['contains', 'startsWith', 'endsWith'])(
    'looks for a text of at most 500 characters by %s',
    (operator) => {
      const filter = (length: number) => ({ [`filter[name.${operator}]`]: 'a'.padEnd(length, 'x') });

      expect(refusal(filter(500))).toBe('accepted');
      expect(refusal(filter(501))).toBe('invalid');
    },
  );

  it('looks for no text that repeats itself very often, which takes very long to be found', () => {
    const looked = (text: string) => [
      refusal({ search: text }),
      ...['contains', 'endsWith', 'startsWith', 'eq'].map((operator) =>
        refusal({ [`filter[name.${operator}]`]: text }),
      ),
    ];
    const [accepted, invalid] = ['accepted', 'invalid'];
    for (const text of ['x'.repeat(40), '42'.padStart(20, '0'), '7'.padStart(40, '0'), '-'.repeat(30)])
      expect(looked(text)).toEqual([accepted, accepted, accepted, accepted, accepted]);
    for (const text of ['x'.repeat(41), 'xX'.repeat(21), 'ab-'.repeat(41), `${'x'.repeat(199)}y`])
      expect(looked(text)).toEqual([invalid, invalid, invalid, accepted, accepted]);
  });

  it.each(['filter', 'presets'])('of an export has a bounded length, of %s too', (kind) => {
    const texts = (length: number) => {
      const text = 'new,'.repeat(length / 4 - 3).concat('new');
      return kind === 'filter' ? { filter: { 'name.eq': text } } : { presets: { age: text } };
    };

    expect(() => parseSelection(texts(SELECTION_LENGTH_MAX), rules)).not.toThrow();
    expect(() => parseSelection(texts(SELECTION_LENGTH_MAX + 16), rules)).toThrow(/characters together/);
  });

  it('parses every text to a query or a problem, and never crashes', () => {
    const name = fc.oneof(
      fc.constantFrom('page', 'pageSize', 'sort', 'search', 'cursor', 'filter[name.eq]'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'binary' })), (parameters) => {
        expect(['accepted', 'malformed', 'invalid']).toContain(refusal(parameters));
      }),
    );
  });
});

describe('splitList', () => {
  it('returns the values that were joined with commas', () => {
    const escape = (value: string) => value.replace(/[\\,]/g, '\\$&');
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (values) => {
        expect(splitList(values.map(escape).join(','))).toEqual(values);
      }),
    );
  });
});

describe('parseTimestamp', () => {
  it.each(['2026-11-21', '2026-11-21T10:00', '2026-11-21T10:00:00.123Z', '2026-11-21T10:00:00+02:00'])(
    'accepts %s',
    (text) => {
      expect(parseTimestamp(text)).toBeInstanceOf(Date);
    },
  );

  it.each(['0000-12-31', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00'])(
    'refuses %s, which a database cannot store',
    (text) => {
      expect(parseTimestamp(text)).toBeUndefined();
    },
  );

  it.each([
    '',
    'now',
    '21.11.2026',
    '2026-13-01',
    '2026-02-30',
    '2026-11-31T10:00:00Z',
    '2026-11-21T25:00Z',
    '2026-11-21 10:00',
  ])('refuses "%s"', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});
