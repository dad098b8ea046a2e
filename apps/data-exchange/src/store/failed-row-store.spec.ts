import { failedParts } from './failed-row-store';

describe('failed rows as they are stored', () => {
  it('have no characters at which Postgres fails, also in messages of owners', () => {
    const half = '\ud800';
    const [part] = failedParts([
      {
        rowNumber: 2,
        kind: 'Validation',
        details: [{ column: 'na\0me', value: half, code: 'Code', message: '\\u0000 is not \0' }],
        cells: ['\0', half],
      },
    ]);
    expect(JSON.parse(part!.details)).toEqual([
      2,
      'Validation',
      [{ column: 'na␀me', value: '\ufffd', code: 'Code', message: '\\u0000 is not ␀' }],
    ]);
    expect(JSON.parse(part!.cells)).toEqual(['␀', '\ufffd']);
  });
});
