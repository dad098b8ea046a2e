import { ErrorCounter } from './error-groups';

describe('errors that are counted in groups', () => {
  const failed = (rowNumber: number, code: string) => ({
    rowNumber,
    kind: 'Validation' as const,
    details: [{ column: 'code', value: null, code, message: '' }],
  });

  it('take no more memory where each value has a code of its own', () => {
    const counter = new ErrorCounter();
    counter.add(failed(2, 'usual'));
    for (let rowNumber = 3; rowNumber < 10_000; rowNumber++)
      counter.add(failed(rowNumber, `code of ${rowNumber}`));
    for (let rowNumber = 10_000; rowNumber < 10_010; rowNumber++) {
      counter.add(failed(rowNumber, 'late'));
      counter.add(failed(rowNumber, 'usual'));
    }
    const { groups } = counter.result();
    expect(groups[0]).toMatchObject({ count: 11, example: { code: 'usual' } });
    expect(groups.map(({ example }) => example.code)).not.toContain('late');
  });
});
