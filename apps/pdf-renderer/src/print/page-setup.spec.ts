import { printOptionsOf } from './page-setup';

describe('the header of printed pages', () => {
  const headerOf = (header: string) => printOptionsOf({ header }).headerTemplate;

  it('has the numbers that callers of the version before leave to the renderer', () => {
    expect(headerOf('{page} of <b title="a">{pages}</b>')).toContain(
      '><span class="pageNumber"></span> of <b title="a"><span class="totalPages"></span></b></div>',
    );
  });

  it.each([
    '<b title="{page}<img src=x onerror=f()>">x</b>',
    '<b lang="a" title="<i> {pages}">x</b>',
    '<b title=">{page}" class="{pages}">x</b>',
  ])('has no elements that a value of an attribute makes: %s', (header) => {
    expect(headerOf(header)).toContain(`>${header}</div>`);
  });
});
