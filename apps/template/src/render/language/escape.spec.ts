import fc from 'fast-check';
import { parse, type DefaultTreeAdapterMap } from 'parse5';
import { evaluate } from './evaluate';
import { Meter } from './meter';
import { parseTemplate } from './parse';
import { toValue, type Dict } from './values';

type Node = DefaultTreeAdapterMap['node'];

/** The elements and attributes of a page, without any text of theirs. */
function shapeOf(node: Node): unknown {
  const children = 'childNodes' in node ? node.childNodes.map(shapeOf).filter((child) => child !== null) : [];
  if (!('tagName' in node)) return node.nodeName.startsWith('#text') ? null : [node.nodeName, ...children];
  return [node.tagName, node.attrs.map(({ name }) => name).sort(), ...children];
}

const render = (source: string, data: object): string =>
  evaluate(parseTemplate(source), {
    culture: 'en',
    timeZone: 'UTC',
    isMarkup: true,
    variables: toValue(data) as Dict,
    template: () => undefined,
    translate: () => undefined,
    meter: new Meter(),
  }).text;

const page = `<!doctype html><title>{{ x }}</title><body class="a {{ x }}" data-b='{{ x }}'>
  <p>{{ x }}{{ list }}{{ list | join(", ") }}{{ x | upper }}{{ x | truncate(9) }}{{ x | nl2br }}{{ x | urlize }}</p>
  <a href="{{ x }}" title={{ x }}>{{ x | replace("a", x) }}</a><a href={{ x }} rel=next>u</a><img src='{{ x }}' alt="">
  <textarea>{{ x }}</textarea><!-- {{ x }} --><style>p { color: {{ x }} }</style>
  <script>var a = {{ x }}; var b = "{{ x }}"; var c = {{ list | dump }};</script>
  <button onclick="go('{{ x }}')" style="width: {{ x }}">{% set m %}<i>{{ x }}</i>{% endset %}{{ m }}{{ m | title }}</button></body>`;

/** Pieces of markup and of languages inside it, in any order. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '`',
        '=',
        '&',
        '</',
        '<!--',
        '-->',
        '</script>',
        '</title>',
        '</style>',
        '</textarea>',
        '<img src=x onerror=alert(1)>',
        'javascript:alert(1)',
        ' onclick=x ',
        '\\',
        '\n',
        '\u2028',
        '{{',
        '&lt;',
        'url(',
        '*/',
        'data:text/html,<script>',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text.trim() !== '' && !/[\0\r\f]/.test(text));

describe('escaping of values in HTML', () => {
  const expected = JSON.stringify(
    shapeOf(parse(render(page, { x: 'a', list: ['a', 'b'] })) as Node),
  ).replaceAll('"a"', '');

  it('never lets data create an element or an attribute', () => {
    fc.assert(
      fc.property(hostile, hostile, (x, y) => {
        const shape = shapeOf(
          parse(
            render(page, { x, list: [x, y] }).replace(/<a href="[^"]*" rel="nofollow">|<br \/>/g, ''),
          ) as Node,
        );
        expect(JSON.stringify(shape).replaceAll('"a"', '')).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['<a href="{{ x }}">', 'javascript:alert(1)', '<a href="#blocked">'],
    ['<a href="{{ x }}">', ' java\tscript:alert(1)', '<a href="#blocked">'],
    ['<a href="{{ x }}">', 'https://example.org/?a=1&b=2', '<a href="https://example.org/?a=1&amp;b=2">'],
    ['<a href="/search?q={{ x }}">', 'javascript:x', '<a href="/search?q=javascript:x">'],
    ['<img src="{{ x }}">', 'data:image/png;base64,AAAA', '<img src="data:image/png;base64,AAAA">'],
    ['<iframe src="{{ x }}">', 'data:text/html,<script>', '<iframe src="#blocked">'],
    ['<input value={{ x }}>', 'a b', '<input value=a&#32;b>'],
    ['<script>f({{ x }})</script>', '</script>"', '<script>f("\\u003c\\u002fscript\\u003e\\u0022")</script>'],
    ['<p onclick="f(\'{{ x }}\')">', "');g('", '<p onclick="f(\'\\u0027\\u0029\\u003bg\\u0028\\u0027\')">'],
    [
      '<p style="color: {{ x }}">',
      'red; background: url(x)',
      '<p style="color: red\\3b  background\\3a  url\\28 x\\29 ">',
    ],
    ['{{ x | safe }}', '<b>', '<b>'],
    ['{{ x | escape }}{{ x | e | e }}', '<', '&lt;&lt;'],
  ])('escapes a value in %s', (source, x, html) => {
    expect(render(source, { x })).toBe(html);
  });
});
