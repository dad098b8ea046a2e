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
  ])('prints %s as %s', (html, band) => {
    expect(printedBand(html)).toBe(band);
    expect(printedBand(band)).toBe(band);
  });
});
