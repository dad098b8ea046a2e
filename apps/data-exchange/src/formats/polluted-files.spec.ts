import { measureDetection } from './measure-detection';

describe('polluted files', () => {
  it('are read by detection alone as the benchmark that pollutes so asks for', async () => {
    const { simple, weighted, losses } = await measureDetection({ everyRow: 13 });

    expect(simple).toBeGreaterThanOrEqual(9.8);
    expect(weighted).toBeGreaterThanOrEqual(9.75);
    const kinds = losses.filter(({ loss }) => loss > 0.001).map(({ kind }) => kind);
    // A header that is repeated at once keeps its names, and one that is repeated later does not end the table.
    expect(kinds).toEqual(
      expect.arrayContaining(['header of 2 rows', 'header of 3 rows', 'another table of 9 columns']),
    );
    expect(kinds.length).toBeLessThanOrEqual(7);
  });
});
