import { CreateExportJobRequest } from './shapes';

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
});
