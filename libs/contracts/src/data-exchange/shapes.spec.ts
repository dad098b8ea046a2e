import { CreateExportJobRequest, SaveExportPresetRequest } from './shapes';

const requestWith = (filter: object) => ({
  definitionName: 'Contacts.Companies',
  format: 'csv',
  selectedFields: null,
  includeIdForImport: false,
  filter,
});

describe('the filter of an export', () => {
  it('has texts by their names', () => {
    const filter = { 'name.eq': 'Ada', 'city.eq': '' };
    expect(CreateExportJobRequest.parse(requestWith(filter)).filter).toEqual(filter);
  });

  it('with values that are no texts is told the first one, however many there are', () => {
    const filter = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}.eq`, index]));
    const issues = CreateExportJobRequest.safeParse(requestWith(filter)).error?.issues;
    expect(issues).toEqual([
      {
        code: 'invalid_type',
        expected: 'string',
        path: ['filter', 'f0.eq'],
        message: expect.any(String) as string,
      },
    ]);
  });

  it.each([CreateExportJobRequest, SaveExportPresetRequest])(
    'with very many names is refused before any of them is looked at',
    (schema) => {
      const names = Array.from({ length: 100_000 }, (_, index) => [`f${index}.eq`, '']);
      const lookedAt: PropertyKey[] = [];
      const filter = new Proxy(Object.fromEntries(names) as Record<string, string>, {
        get: (values, name) => {
          lookedAt.push(name);
          return values[name as string];
        },
      });
      const request = { ...requestWith(filter), presetName: 'Mine', selectedFields: [] };
      const issues = schema.safeParse(request).error?.issues;
      expect(issues).toMatchObject([{ path: ['filter'], params: { rule: 'MaximumLength' } }]);
      expect(lookedAt).toEqual([]);
    },
  );
});
