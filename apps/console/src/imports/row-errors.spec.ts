import { errorsInGroup } from './row-errors';

describe('the errors of a group that are shown', () => {
  const detail = { column: 'Code', value: null, code: 'NotEmpty', message: '' };
  const group = { kind: 'Validation', column: 'Code', code: 'NotEmpty', message: '', count: 5 } as const;
  const row = (rowNumber: number, details: (typeof detail)[], cells?: string[]) => ({
    rowNumber,
    kind: 'Validation' as const,
    errorCodes: [],
    message: '',
    details,
    ...(cells && { cells }),
  });

  it('are all of a row, and none of a row that is left out', () => {
    const rows = [
      row(2, [detail, detail, { ...detail, code: 'Unique' }], ['']),
      row(3, [detail], ['']),
      row(4, [detail]),
    ];
    expect(errorsInGroup(rows, group)).toBe(3);
  });
});
