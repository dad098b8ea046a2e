import { isValueOf, operatorsOf, toConditions, toFilter, type ExportFilter } from './conditions';

const name: ExportFilter = {
  field: 'name',
  type: 'string',
  operators: ['eq', 'contains', 'startsWith', 'endsWith', 'in'],
  values: null,
};
const size: ExportFilter = {
  field: 'size',
  type: 'integer',
  operators: ['eq', 'gt', 'gte', 'lt', 'lte'],
  values: null,
};

describe('operatorsOf', () => {
  it('offers each operator of a field once', () => {
    const condition = { id: 1, field: 'name', operator: 'contains', value: 'a' };
    expect(operatorsOf(name, [condition])).toEqual(['eq', 'startsWith', 'endsWith']);
    expect(operatorsOf(name, [condition], condition)).toContain('contains');
    expect(operatorsOf(size, [condition])).toEqual(['gte', 'lte', 'eq']);
  });
});

describe('toFilter', () => {
  it('asks for complete conditions only', () => {
    const conditions = [
      { id: 1, field: 'name', operator: 'contains', value: ' Blå ' },
      { id: 2, field: 'size', operator: 'gte', value: 'many' },
      { id: 3, field: 'size', operator: 'lte', value: '12' },
      { id: 4, field: 'name', operator: 'eq', value: '' },
      { id: 5, field: 'gone', operator: 'eq', value: 'x' },
    ];
    expect(toFilter(conditions, [name, size])).toEqual({ 'name.contains': 'Blå', 'size.lte': '12' });
  });

  it('takes no number for a value that is none', () => {
    expect(['1', '-7', '1.5', 'x', ''].map((text) => isValueOf(size, text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('isValueOf', () => {
  it('takes days and instants for a point in time, and nothing else', () => {
    const seen: ExportFilter = { field: 'seenAt', type: 'timestamp', operators: ['gte', 'lt'], values: null };
    const texts = ['2026-10-01', '2026-10-01T00:00:00Z', 'yesterday', '2026-13-40', ''];
    expect(texts.map((text) => isValueOf(seen, text))).toEqual([true, true, false, false, false]);
  });
});

describe('toConditions', () => {
  it('says again what a filter says', () => {
    const filter = { 'name.contains': 'Blå', 'size.lte': '12' };
    expect(toFilter(toConditions(filter, [name, size]), [name, size])).toEqual(filter);
    expect(toConditions({ 'gone.eq': 'x', 'size.between': '1,2' }, [name, size])).toEqual([]);
  });
});
