import { plainTextOf } from './html';

describe('the plain text of a page', () => {
  it('breaks lines at elements and where it says so, and nowhere else', () => {
    expect(plainTextOf('<p>a <b>b</b></p> <p>c<br><br>d</p><table><tr><td>e<td> <td>f</table>')).toBe(
      'a b\n\nc\n\nd\n\ne\t\tf',
    );
  });

  it('is written in one pass, however many cells are empty', () => {
    // So many that steps for each two of them would not end.
    const cells = 1_000_000;
    expect(plainTextOf(`<table><tr><td>a${'<td>'.repeat(cells)}b`)).toBe(`a${'\t'.repeat(cells)}b`);
  });
});
