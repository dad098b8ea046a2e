import { errorsInGroup, joinGroups } from './row-errors';

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

describe('the groups of errors', () => {
  it('count an error once, of whatever kind the first errors of its rows are', () => {
    const empty = { column: 'Code', code: 'NotEmpty', message: 'Code must not be empty.' };
    const date = { column: 'Born', code: 'DateOnly', message: 'Born must be a date.' };
    expect(
      joinGroups([
        { kind: 'Validation', ...empty, count: 6 },
        { kind: 'Conversion', ...date, count: 5 },
        { kind: 'Validation', ...date, count: 4 },
      ]),
    ).toEqual([
      { kind: 'Conversion', ...date, count: 9 },
      { kind: 'Validation', ...empty, count: 6 },
    ]);
  });
});
