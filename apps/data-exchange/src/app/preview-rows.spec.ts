import { previewRowsOf } from './preview-rows';

describe('the rows of a preview', () => {
  const row = (number: number, cells: string[]) => ({ number, cells });

  it('have a cell for each column', () => {
    expect(previewRowsOf([row(2, ['a']), row(3, ['a', 'b', 'c'])], 2)).toEqual([
      row(2, ['a', '']),
      row(3, ['a', 'b']),
    ]);
  });

  it('have long cells cut, as those behind a quote that is never closed', () => {
    const [shown] = previewRowsOf([row(2, ['x'.repeat(1_000), 'y'.repeat(1_000_000)])], 2);
    expect(shown!.cells).toEqual(['x'.repeat(1_000), `${'y'.repeat(999)}…`]);
  });

  it('have no half of a character where a cell is cut', () => {
    const [shown] = previewRowsOf([row(2, [`${'x'.repeat(998)}😀y`])], 1);
    expect(shown!.cells[0]!.isWellFormed()).toBe(true);
  });

  it('are the first where they are together more than anybody looks at', () => {
    const wide = (number: number) => row(number, Array<string>(1_000).fill('x'.repeat(900)));
    expect(previewRowsOf([wide(2), wide(3)], 1_000).map(({ number }) => number)).toEqual([2]);
  });
});
