import { LimitError } from '../language/meter';
import { printedBand } from './printed-band';

describe('the band of a printed page', () => {
  it.each([
    [
      'Page <b>1</b> of <span class="pageNumber"></span>',
      'Page <b>1</b> of <span class="pageNumber"></span>',
    ],
    ['<p style="color: red" onclick="f()">a</p>', '<p style="color: red">a</p>'],
    ['<svg onload="f()"><text>a</text></svg>b', 'b'],
    ['<script>f()</script><style>p{}</style><iframe srcdoc="a"></iframe>', ''],
    ['<img src=x onerror=f()>', '<img>'],
    ['<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,AAAA">'],
    ['<img src="data:image/svg+xml,<svg onload=f()>">', '<img>'],
    ['<a href="javascript:f()">a</a>', '<a>a</a>'],
    ['<p style="background: url(http://host/)">a</p>', '<p>a</p>'],
    ['<p style="background: u\\72l(http://host/)">a</p>', '<p>a</p>'],
    ['<form action=/x><center>a</center></form>', 'a'],
    ['<math><mtext><img src=x onerror=f()></mtext></math>', ''],
    ['a<!-- b -->&lt;i&gt;', 'a&lt;i&gt;'],
    [
      '<p>{page} of {pages}</p>{{page}',
      '<p><span class="pageNumber"></span> of <span class="totalPages"></span></p>{<span class="pageNumber"></span>',
    ],
    ['<b title="{page}" lang="{pages}<i>" class="{p">x</b>', '<b class="{p">x</b>'],
    ['<b title="&#123;page}<img src=x>">x</b>', '<b>x</b>'],
    ['<b title="{pa{page}ge}" style="{{page}}">x</b>', '<b>x</b>'],
  ])('prints %s as %s', (html, band) => {
    expect(printedBand(html)).toBe(band);
    expect(printedBand(band)).toBe(band);
  });

  it.each(['{page}', '{pages}'])('has no %s that a renderer would replace', (placeholder) => {
    const html = `<b title="${placeholder}<svg onload=f()>" lang="${placeholder}">${placeholder}<i>{</i>page}</b>`;
    expect(printedBand(html)).not.toContain(placeholder);
  });

  it('is refused where it is too large before or after it is made', () => {
    expect(() => printedBand('\u00a0'.repeat(50_000))).toThrow(LimitError);
    expect(() => printedBand(`<script>${'x'.repeat(300_000)}</script>`)).toThrow(LimitError);
    expect(printedBand('x'.repeat(256 * 1024))).toHaveLength(256 * 1024);
  });
});
