import type { ImportRow } from '@plinth/exchange/definition';
import { errorsOfRows } from './imported-override';

const base = { en: { Shop: { greeting: 'Hello {name}', title: 'Shop' } } };
const rowsOf = (values: readonly string[], key = 'greeting'): ImportRow[] =>
  values.map((value, index) => ({
    rowNumber: index + 1,
    values: { resourceName: 'Shop', cultureName: 'en', key, value },
  }));

/** Checks rows; returns how many steps that took, too. */
function check(rows: readonly ImportRow[]) {
  const checking = errorsOfRows(base, rows);
  for (let steps = 1; ; steps++) {
    const { done, value } = checking.next();
    if (done) return { errors: value, steps };
  }
}

describe('the check of imported texts', () => {
  it('finds those that take other values than the text of the platform', () => {
    const { errors } = check(rowsOf(['Hi {name}', 'Hi', 'Hi {name} {0}', 'Hi, {name}!']));
    expect(errors.map(({ rowNumber, column }) => [rowNumber, column])).toEqual([
      [2, 'value'],
      [3, 'value'],
    ]);
  });

  it('goes on in steps, however long the texts are', () => {
    const long = rowsOf(Array.from({ length: 250 }, (_, number) => `{a${number}}`.repeat(600)));
    expect(check(long).steps).toBeGreaterThan(125);
    expect(check(rowsOf(Array.from({ length: 100 }, () => 'Hi {name}'))).steps).toBe(1);
  });
});
