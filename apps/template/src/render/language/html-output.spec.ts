import fc from 'fast-check';
import { parse, type DefaultTreeAdapterMap } from 'parse5';
import { createScanner, LanguageVariant, ScriptTarget, SyntaxKind } from 'typescript';
import { evaluate } from './evaluate';
import { choosableElements } from './html-output';
import { Meter } from './meter';
import { parseTemplate } from './parse';
import { toValue, type Dict } from './values';

type Node = DefaultTreeAdapterMap['node'];

const runs = Number(process.env['PLINTH_TEST_ESCAPING'] ?? 300);

const render = (source: string, data: object): string =>
  evaluate(parseTemplate(source), {
    culture: 'en',
    timeZone: 'UTC',
    isMarkup: true,
    variables: toValue(data) as Dict,
    globals: new Map(),
    template: () => undefined,
    translate: () => undefined,
    meter: new Meter(),
  }).text;

/** The tokens of a script, without what is in its strings. */
function tokensOf(script: string): string[] {
  const scanner = createScanner(ScriptTarget.Latest, true, LanguageVariant.Standard, script);
  const tokens: string[] = [];
  const braces: number[] = [];
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    // TypeScript does not know that this begins a comment of one line.
    if (script.startsWith('<!--', scanner.getTokenStart())) {
      const line = /^.*/.exec(script.slice(scanner.getTokenStart()))![0];
      scanner.resetTokenState(scanner.getTokenStart() + line.length);
      continue;
    }
    const isPattern =
      /^\/=?$/.test(scanner.getTokenText()) && !/^(text|[\w$]+|[)\]])$/.test(tokens.at(-1) ?? '');
    if (isPattern) kind = scanner.reScanSlashToken();
    // No browser runs such a script, and TypeScript guesses where the pattern would have ended.
    if (isPattern && scanner.isUnterminated()) return [...tokens, 'unterminated'];
    if (kind === SyntaxKind.OpenBraceToken && braces.length > 0) braces.push(braces.pop()! + 1);
    if (kind === SyntaxKind.CloseBraceToken && braces.length > 0) {
      const open = braces.pop()!;
      if (open > 0) braces.push(open - 1);
      else kind = scanner.reScanTemplateToken(false);
    }
    if (kind === SyntaxKind.TemplateHead || kind === SyntaxKind.TemplateMiddle) braces.push(0);
    tokens.push(/^["'`/}]./s.test(scanner.getTokenText()) ? 'text' : scanner.getTokenText());
  }
  return tokens;
}

/** The scheme of an address as the URL of the web reads it; none where the address is relative. */
function schemeOf(address: string): string {
  const url = URL.parse(address);
  return url && !/^(https?|mailto|tel):$/.test(url.protocol) ? url.protocol : 'harmless';
}

/** Everything of a page that its data must not choose: elements, attributes, schemes and scripts. */
function shapeOf(node: Node, scriptingEnabled: boolean): unknown {
  const children =
    'childNodes' in node
      ? node.childNodes.map((child) => shapeOf(child, scriptingEnabled)).filter((child) => child !== null)
      : [];
  if (!('tagName' in node)) return node.nodeName.startsWith('#text') ? null : [node.nodeName, ...children];
  const attributes = node.attrs.map(({ name, value }) => {
    if (['href', 'src', 'action', 'xlink:href'].includes(name)) return [name, schemeOf(value)];
    if (name === 'srcdoc') return [name, shapeOf(parse(value, { scriptingEnabled }), scriptingEnabled)];
    return name.startsWith('on') ? [name, tokensOf(value)] : [name];
  });
  const [inside] = node.childNodes;
  const script = node.tagName === 'script' && inside && 'value' in inside ? tokensOf(inside.value) : [];
  return [node.tagName, attributes, script, ...children];
}

const shapesOf = (html: string): string =>
  JSON.stringify(
    [true, false].map((scripting) => shapeOf(parse(html, { scriptingEnabled: scripting }), scripting)),
  );

const page = `<!doctype html><title>{{ x }}</title><body class="a {{ x }}" data-b='{{ x }}'>
  <p>{{ x }}{{ list }}{{ list | join(", ") }}{{ x | upper }}{{ x | truncate(9, true, y) }}{{ x | nl2br }}</p>
  <a href="{{ x }}" title={{ x }}>{{ x | replace("a", x) }}</a><a href={{ x }}{{ y }} rel=next>u</a><img src='{{ x }}' alt="">
  <a href="{{ x }}{{ y }}">a</a><a href=" {{ x }}:{{ y }}">b</a><a href="{{ x | e }}&#58;{{ y }}">c</a><a href={{ y }}>d</a>
  <textarea>{{ x }}</textarea><!-- {{ x }} --><!--><a href={{ x }}>e</a><style>p { color: {{ x }}; background: url({{ y }}) }</style>
  <script>var a = {{ x }}; var b = "{{ x }}"; var c = {{ list | dump }}; // don't {{ x }}
    f(/[/'"]{{ x }}/, {{ y }}, \`\${ {{ x }} } {{ y }}\`, 4 / 2, '{{ x }}'); /* {{ y }} */ <!-- <script> </script> {{ x }} --></script>
  <button onclick="go('{{ x }}', {{ y }})" style="width: {{ x }}">{% set m %}<i>{{ x }}</i>{% endset %}{{ m }}{{ m | title }}{{ m | truncate(4, true, y) }}</button>
  <iframe srcdoc="<p title={{ x }}>{{ y }}<a href='{{ x }}{{ y }}'>f</a></p>"></iframe>
  {% macro link(to) %}<a href="{{ to }}">{{ to }}</a>{% endmacro %}{{ link(x) }}{% set open %}<a href="{{ x }}{% endset %}{{ open }}{{ y }}">g</a>
  <noscript><a href="{{ x }}{{ y }}" title={{ x }}>{{ y }}</a></noscript><svg><title>{{ x }}</title><style>{{ y }}</style><a href="{{ x }}"/></svg></body>`;

/** Pieces of pages, in any order: most of what they make is broken. */
const pieces = [
  '<p>',
  '</p>',
  '<a href="',
  '<a href=',
  "<a title='",
  '<img alt= ',
  '<a href /',
  '<button onclick="f(',
  '"',
  "'",
  ' ',
  '>',
  '/>',
  '=',
  ':',
  'java',
  '&#58;',
  '<!--',
  '<!-->',
  '-->',
  '--!>',
  '<!',
  '</',
  '</script>',
  '</scriptx>',
  '<script>',
  '<script>var a =',
  '<title>',
  '</title>',
  '<style>',
  '</style>',
  '<textarea>',
  '<svg>',
  '</svg>',
  '<math>',
  '<?',
  '//',
  '/*',
  '*/',
  '`',
  '\n',
  '\u00a0',
  ';',
  '<iframe srcdoc="',
];
const template = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(' {{ x }}', '{{ y }} ', '{{ x }}{{ y }}')), {
    minLength: 2,
    maxLength: 14,
  })
  .map((parts) => parts.join(''));

/** Pieces of markup and of the languages inside it, in any order. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom(
        ...[
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
          '--!>',
          '</script>',
          '</title>',
          '</style>',
        ],
        ...[
          '<img src=x onerror=alert(1)>',
          'javascript:alert(1)',
          'java',
          'script:alert(1)',
          '//host/x',
          ' onclick=x ',
        ],
        ...[
          '\\',
          '\n',
          '\r',
          '\f',
          '\0',
          '\t',
          '\u2028',
          '{{',
          '&lt;',
          'url(',
          '*/',
          '//',
          'data:text/html,<script>',
        ],
        ...['${', '}', '/', '#x', ';alert(1)//', '&colon;', ']]>'],
      ),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => /[^\s\p{Cc}\p{Cf}]/u.test(text) && text.isWellFormed())
  .filter((text) => !choosableElements.has(text.toLowerCase()));

describe('escaping of values in HTML', () => {
  it('never lets data create an element, an attribute, a scheme or a script', () => {
    const expected = shapesOf(render(page, { x: 'a', y: 'b', list: ['a', 'b'] }));
    const shortened = (tokens: string): string => tokens.replace(/\["text"(,",","text")*\]/g, '["text"]');
    fc.assert(
      fc.property(hostile, hostile, (x, y) => {
        const html = render(page, { x, y, list: [x, y] }).replaceAll('<br />', '');
        expect(shortened(shapesOf(html))).toBe(shortened(expected));
      }),
      { numRuns: runs / 10 },
    );
  });

  it('says the same of templates that are broken', () => {
    fc.assert(
      fc.property(template, hostile, hostile, (source, x, y) => {
        expect(shapesOf(render(source, { x, y }))).toBe(shapesOf(render(source, { x: 'a', y: 'b' })));
      }),
      { numRuns: runs },
    );
  });

  it.each([
    '<math></svg><title><script>var a = {{ x }}',
    '<svg><p><title><!--</title><script>var a = {{ x }}',
    '<svg><title><textarea><!--</textarea><script>var a = {{ x }}',
    '<math><mtext><title><!--</title><script>var a = {{ x }}',
    '<select><title><script>var a = {{ x }}',
    '<noscript><!--</noscript><script>var a = {{ x }}',
    '<!-- <!--!><script>var a = {{ x }}',
  ])('writes no script where a browser may read one: %s', (source) => {
    expect(render(source, { x: 'alert(1)' })).not.toContain('alert(1)');
  });

  it.each([
    ['<svg><title>{{ x }}</title><style>p { color: {{ x }} }</style><text>{{ x }}</text></svg>{{ x }}', 4],
    ['<title>{{ x }}</title><textarea>{{ x }}</textarea><p title="{{ x }}">', 3],
    ['<noscript><img src="/{{ x }}" alt="{{ x }}">{{ x }}</noscript><a href="{{ x }}">', 4],
    ['<svg><foreignObject><textarea>{{ x }}</textarea><p>{{ x }}</foreignObject></svg><b>{{ x }}', 3],
  ])('writes every value where both readings are the same: %s', (source, count) => {
    expect(render(source, { x: 'blue' }).split('blue')).toHaveLength(count + 1);
  });

  it('links what is an address in a text, and nothing else', () => {
    fc.assert(
      fc.property(hostile, (x) => {
        const linked = render('<p>{{ x | urlize }}</p>', { x }).replace(
          /<a href="(?:[^"]*" rel="nofollow|mailto:[^"]*)">|<\/a>/g,
          '',
        );
        expect(shapesOf(linked)).toBe(shapesOf('<p></p>'));
      }),
      { numRuns: runs },
    );
  });

  it.each([
    ['<a href="{{ x }}">', 'javascript:alert(1)', '<a href="#blocked">'],
    ['<a href="{{ x }}">', ' java\tscript:alert(1)', '<a href="#blocked">'],
    ['<a href="{{ x }}">', 'https://example.org/?a=1&b=2', '<a href="https://example.org/?a=1&amp;b=2">'],
    ['<a href="/search?q={{ x }}">', 'javascript:x', '<a href="/search?q=javascript:x">'],
    ['<a href="{{ x.slice(0, 4) }}{{ x.slice(4) }}">', 'javascript:alert(1)', '<a href="#blocked">'],
    ['<a href="{{ x }}&colon;alert(1)">', 'javascript', '<a href="#blocked">'],
    ['<a href="javascript:f(1)">{{ x }}', 'a', '<a href="javascript:f(1)">a'],
    ['<a href="{{ x | e }}">', '/?a=1&b=2', '<a href="/?a=1&amp;b=2">'],
    ['<img src="{{ x }}">', 'data:image/png;base64,AAAA', '<img src="data:image/png;base64,AAAA">'],
    ['<img srcset="{{ x }} 2x">', '/a.png 1x, data:text/html,x', '<img srcset="#blocked">'],
    ['<iframe src="{{ x }}">', 'data:image/svg+xml,<svg onload=f()>', '<iframe src="#blocked">'],
    ['<script src="{{ x }}"></script>', '//host/a.js', '<script src="#blocked"></script>'],
    ['<script src="/{{ x }}"></script>', '/host/a.js', '<script src="#blocked"></script>'],
    [
      '<script src="https://own.example/{{ x }}"></script>',
      'a.js',
      '<script src="https://own.example/a.js"></script>',
    ],
    [
      '<meta http-equiv=refresh content="{{ x }}">',
      '0;url=javascript:f()',
      '<meta http-equiv=refresh content="#blocked">',
    ],
    ['<iframe srcdoc="<a href={{ x }}>">', 'javascript:f()', '<iframe srcdoc="&lt;a href=#blocked&gt;">'],
    ['<input value={{ x }}>', 'a b', '<input value=a&#32;b>'],
    ['<input value={{ x }} {{ x }}>', '', '<input value="" >'],
    ['<a href={{ x }}id=x>', '', '<a href=id=x>'],
    ['<input {{ x }}>', 'checked', '<input checked>'],
    ['<input {{ x }}>', 'autofocus', '<input >'],
    ['<p on{{ x }}="y" data-{{ x }}="y">', 'click', '<p on="y" data-click="y">'],
    ['<{{ x }}>', 'td', '<td>'],
    ['<{{ x }}>', 'script', '<x->'],
    ['<h{{ x }}>', '1', '<h1>'],
    ['<s{{ x }}>', 'cript', '<s>'],
    ['<!--><p title={{ x }}>', 'a b', '<!--><p title=a&#32;b>'],
    ['<script>f({{ x }})</script>', '</script>"', '<script>f("\\u003c\\u002fscript\\u003e\\u0022")</script>'],
    ["<script>// don't\nf({{ x }})</script>", 'a', '<script>// don\'t\nf("a")</script>'],
    [
      '<p onclick="f(\'{{ x }}\')">',
      "');g('",
      '<p onclick="f(\'&#92;u0027&#92;u0029&#92;u003bg&#92;u0028&#92;u0027\')">',
    ],
    ['<p onclick="f({{ x }})">', 'a', '<p onclick="f(&quot;a&quot;)">'],
    [
      '<p style="color: {{ x }}">',
      'red; background: url(x)',
      '<p style="color: red&#92;3b  background&#92;3a  url&#92;28 x&#92;29 ">',
    ],
    ['<p style="background: url({{ x }})">', 'javascript:f()', '<p style="background: url(#blocked)">'],
    ['{% set m %}<b>{% endset %}{{ m | truncate(1, true, x) }}', '<i>', '&lt;&lt;i&gt;'],
    ['{{ x | safe }}', '<b>', '<b>'],
    ['{{ x | escape }}{{ x | e | e }}', '<', '&lt;&lt;'],
  ])('escapes a value in %s', (source, x, html) => {
    expect(render(source, { x })).toBe(html);
  });
});
