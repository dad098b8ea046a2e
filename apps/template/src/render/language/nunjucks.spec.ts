import fc from 'fast-check';
import { Environment, type ILoaderAny } from 'nunjucks';
import { evaluate } from './evaluate';
import { filters } from './filters';
import { globals } from './globals';
import { LimitError, Meter } from './meter';
import { parseTemplate } from './parse';
import { TemplateError } from './syntax';
import { tests } from './tests';
import { toValue, type Dict } from './values';

/*
 * The language is Nunjucks, so what the package itself makes of a template is what we make of it. The differences that
 * remain are in docs/areas/templates.md; nothing here comes near them but the cases that show them.
 */

const partials: Record<string, string> = {
  base: '({% block a %}A{% endblock %}|{% block b %}B{{ v }}{% endblock %}){{ v }}',
  middle: '{% extends "base" %}{% block a %}M{{ super() }}{% endblock %}',
  outer: 'D({% block outer %}o[{% block inner %}i{{ v }}{% endblock %}]{% endblock %})',
  between: '{% extends "outer" %}{% block inner %}-{{ super() }}-{% endblock %}',
  included: '[{{ text }}{{ v }}{% set v = 99 %}{{ v }}]',
  macros: '{% macro f(x) %}({{ x }}{{ text }}{{ v }}{{ w }}){% endmacro %}{% set w = 4 %}{% set _w = 1 %}',
};

const data = {
  user: { name: 'Ada', tags: ['b', 'A', 'c'], address: { city: 'Paris' }, n: 3 },
  items: [
    { n: 1, type: 'a', name: 'x' },
    { n: 2, type: 'b', name: 'Y' },
    { n: 3, type: 'a' },
  ],
  list: [3, 1, 2],
  words: ['b', 'A', 'c', 'B'],
  mixed: [2, '10', 1, null, true, 'a'],
  nested: [
    [1, 2],
    [3, 4],
  ],
  dict: { b: 2, a: 1, C: 3, '2': 'two', '1': 'one' },
  empty: [],
  nothing: null,
  zero: 0,
  minus: -7,
  half: 2.5,
  yes: true,
  no: false,
  text: 'foo bar baz',
  loud: 'FOO Bar',
  blank: '',
  digits: '42',
  hex: '1F',
  lines: 'a\nb\r\nc',
  address: 'see http://a.com/x, www.b.org (c.net) me@d.com.',
};

interface Rendering {
  source: string;
  isMarkup: boolean;
}

const loader: ILoaderAny = {
  async: false,
  getSource: (name: string) => ({ src: partials[name], path: name, noCache: true }),
} as unknown as ILoaderAny;

const withPackage = ({ source, isMarkup }: Rendering): string =>
  new Environment(loader, { autoescape: isMarkup }).renderString(source, structuredClone(data));

const withOurs = ({ source, isMarkup }: Rendering): string =>
  evaluate(parseTemplate(source), {
    // Orders texts by their characters, as the package does; other cultures order them as their readers expect.
    culture: 'en-US-u-va-posix',
    timeZone: 'UTC',
    isMarkup,
    variables: toValue(data) as Dict,
    globals: new Map(),
    template: (name) => (Object.hasOwn(partials, name) ? parseTemplate(partials[name]!) : undefined),
    translate: () => undefined,
    meter: new Meter(),
  }).text;

/** What somebody reads in the output; markup of filters is escaped by Nunjucks and not by us. */
function shown(html: string): string {
  const plain = html
    .replace(/&lt;/gi, '<')
    .replace(/&gt;/gi, '>')
    .replace(/&quot;/gi, '"')
    .replace(/&#39;/g, "'")
    .replace(/&#92;/g, '\\')
    .replace(/&amp;/gi, '&');
  return plain === html ? html : shown(plain);
}

/** Whether the package renders this at all; where it does, ours must be the same. */
function sameAsPackage(rendering: Rendering): boolean {
  let expected: string | undefined;
  try {
    expected = withPackage(rendering);
  } catch {
    expected = undefined;
  }
  let actual: string | undefined;
  try {
    actual = withOurs(rendering);
  } catch (error) {
    const isOwn = error instanceof TemplateError || error instanceof LimitError;
    if (!isOwn || expected !== undefined) throw error;
  }
  if (expected === undefined || actual === undefined) return false;
  if (rendering.isMarkup) expect(shown(actual)).toBe(shown(expected));
  else expect(actual).toBe(expected);
  return true;
}

const expression = fc.letrec<{ value: string; simple: string; call: string }>((tie) => {
  const name = fc.constantFrom(
    ...Object.keys(data),
    'missing',
    'user.name',
    'user.tags',
    'items[0]',
    'dict.a',
    'missing.a',
    'v',
    'loop.index',
    'loop.last',
  );
  const literal = fc.constantFrom(
    '0',
    '1',
    '2',
    '7',
    '-3',
    '2.5',
    '"foo"',
    '"a b"',
    '""',
    '"4"',
    'none',
    'true',
    'false',
    '[]',
    '[3, "b", none]',
    '{a: 1, "2": "x", "1": missing}',
  );
  const value = tie('value');
  const joined = (operators: string[]) =>
    fc
      .tuple(value, fc.constantFrom(...operators), value)
      .map(([left, operator, right]) => `${left} ${operator} ${right}`);
  const callOf = (names: readonly string[], args: fc.Arbitrary<string>) =>
    fc
      .tuple(tie('simple'), fc.constantFrom(...names), args)
      .map(([input, filter, given]) => `${input} | ${filter}${given}`);
  const given = (...options: string[]) =>
    fc.constantFrom(...options.map((one) => (one === '' ? '' : `(${one})`)));
  const anything = fc
    .array(tie('simple'), { maxLength: 3 })
    .map((args) => (args.length > 0 ? `(${args.join(', ')})` : ''));
  return {
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('simple'),
      tie('call'),
      joined(['+', '-', '*', '/', '//', '%', '**', '~']),
      joined(['==', '===', '!=', '!==', '<', '>', '<=', '>=', 'and', 'or', 'in', 'not in']),
      value.map((one) => `(${one})`),
      value.map((one) => `not ${one}`),
      fc
        .tuple(value, value, value)
        .map(([then, condition, otherwise]) => `(${then} if ${condition} else ${otherwise})`),
      fc
        .tuple(
          tie('simple'),
          fc.constantFrom(
            ...Object.keys(tests).filter((test) => !['escaped', 'object', 'boolean'].includes(test)),
          ),
        )
        .map(
          ([input, test]) =>
            `(${input} is ${['divisibleby', 'eq', 'equalto', 'ge', 'greaterthan', 'gt', 'le', 'lessthan', 'lt', 'ne', 'sameas'].includes(test) ? `${test}(2)` : test})`,
        ),
    ),
    simple: fc.oneof(
      { weight: 3, arbitrary: name },
      { weight: 2, arbitrary: literal },
      { weight: 1, arbitrary: tie('call').map((one) => `(${one})`) },
    ),
    call: fc.oneof(
      { depthSize: 'small' },
      callOf(
        [
          'abs',
          'capitalize',
          'first',
          'float',
          'int',
          'last',
          'length',
          'list',
          'lower',
          'nl2br',
          'reverse',
          'string',
          'title',
          'trim',
          'upper',
          'urlencode',
          'wordcount',
          'select',
          'reject',
          'sort',
          'sum',
          'round',
          'dump',
          'dictsort',
          'striptags',
          'urlize',
          'center',
          'indent',
          'truncate',
          'join',
        ],
        fc.constant(''),
      ),
      callOf(['batch', 'slice'], given('1', '2', '3', '2, "-"', '0', '"2"', '2, none', '')),
      callOf(
        ['center', 'indent', 'truncate'],
        given('2', '7', '5', '"9"', '0', '7, true', '5, false, "?"', 'none'),
      ),
      callOf(['default', 'd'], given('1', '"x"', '"x", true', 'missing', 'none, true')),
      callOf(['dictsort'], given('true', 'false, "value"', 'true, "key"')),
      callOf(
        ['sort'],
        given(
          'true',
          'false, true',
          'true, true, "n"',
          'attribute="name"',
          'reverse=true',
          'false, false, "address.city"',
        ),
      ),
      callOf(['groupby', 'selectattr', 'rejectattr'], given('"n"', '"type"', '"name"', '"none"')),
      callOf(['join'], given('","', '", ", "n"', '2', '"-", "name"', 'none')),
      callOf(['sum'], given('"n"', '"n", 10', '"name"', 'none, 5')),
      callOf(
        ['replace'],
        given(
          '"o", "0"',
          '"foo", "x", 1',
          '1, 2',
          '"", "."',
          'none, 1',
          '"a", missing',
          '"a", 5, 0',
          '"o", "", -1',
        ),
      ),
      callOf(['round'], given('1', '2, "floor"', '0, "ceil"', '-1', '"1"')),
      callOf(['int'], given('5', '5, 16', 'base=16', 'none, 2', 'default=3')),
      callOf(['float'], given('5', 'none')),
      callOf(['select', 'reject'], given('"odd"', '"gt", 1', '"string"', '"defined"')),
      callOf(['urlize', 'striptags', 'dump'], given('5', 'true', '5, true', '2')),
      callOf(
        [
          'batch',
          'slice',
          'center',
          'indent',
          'truncate',
          'default',
          'groupby',
          'join',
          'sum',
          'round',
          'float',
        ],
        anything,
      ),
      fc.constantFrom(
        'range(3)',
        'range(1, 6, 2)',
        'range(3, 0, -1)',
        'range("2")',
        'range(missing)',
        'range(0, 2, 0)',
      ),
      fc
        .tuple(
          fc.constantFrom('text', 'loud', 'digits', 'lines'),
          fc.constantFrom(
            'toUpperCase()',
            'split(" ")',
            'indexOf("o")',
            'slice(1, -1)',
            'substr(-3, 2)',
            'charAt(1)',
            'repeat(2)',
            'concat(1, none)',
            'replace("o", 1)',
            'padStart(20, "ab")',
            'trim()',
            'lastIndexOf("a", 5)',
            'at(-1)',
            'startsWith("foo")',
            'split("")',
            'substring(4, 1)',
            'length',
            'includes(missing)',
          ),
        )
        .map((parts) => parts.join('.')),
      fc
        .tuple(
          fc.constantFrom('list', 'words', 'mixed', 'nested'),
          fc.constantFrom(
            'join()',
            'join("+")',
            'slice(1)',
            'concat([1], 2)',
            'indexOf(2)',
            'includes("a")',
            'at(-1)',
            'toString()',
            'lastIndexOf(1)',
            'length',
          ),
        )
        .map((parts) => parts.join('.')),
      fc
        .tuple(
          // Zero is below: as an attribute, "0.0" is a path, which the package does not know.
          fc.constantFrom('half', 'minus'),
          fc.constantFrom('toFixed(1)', 'toString(2)', 'toPrecision(3)', 'toFixed()'),
        )
        .map((parts) => parts.join('.')),
    ),
  };
});

const value = fc.oneof(expression.value, expression.call);

const statements = fc.letrec<{ body: string; statement: string }>((tie) => {
  const body = tie('body');
  const output = value.map((one) => `{{ ${one} }}`);
  const variable = fc.constantFrom('v', 'w', 'text', 'x');
  return {
    body: fc
      .array(
        fc.oneof(
          { depthSize: 'small' },
          output,
          fc.constantFrom('-', ' t ', '{{ v }}{{ w }}{{ x }}'),
          tie('statement'),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join('')),
    statement: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(value, body, body)
        .map(
          ([condition, then, otherwise]) => `{% if ${condition} %}${then}{% else %}${otherwise}{% endif %}`,
        ),
      fc.tuple(variable, value).map(([name, one]) => `{% set ${name} = ${one} %}`),
      fc.tuple(variable, body).map(([name, inner]) => `{% set ${name} %}${inner}{% endset %}`),
      fc
        .tuple(fc.constantFrom('x', 'x, y', 'x, y, z'), expression.simple, body, body)
        .map(
          ([names, over, inner, otherwise]) =>
            `{% for ${names} in ${over} %}${inner}{{ x }}{{ y }}{{ loop.index }}{{ loop.revindex0 }}{% else %}${otherwise}{% endfor %}`,
        ),
      fc
        .tuple(
          fc.constantFrom('a', 'a, b=2', 'a, b, c="d"'),
          body,
          fc.constantFrom('1', '1, 5', 'a=3', '1, b=7', '1, 2, 3, 4', 'missing', ''),
        )
        .map(
          ([parameters, inner, args]) =>
            `{% macro m(${parameters}) %}${inner}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(${args}) }}`,
        ),
      fc
        .tuple(expression.simple)
        .map(
          ([one]) =>
            `{% macro n() %}({{ caller(${one}) }}){% endmacro %}{% call(p) n() %}{{ p }}{{ list }}{% endcall %}`,
        ),
      fc
        .tuple(expression.simple, expression.simple, body, body)
        .map(
          ([on, one, then, otherwise]) =>
            `{% switch ${on} %}{% case ${one} %}{% case "42" %}${then}{% default %}${otherwise}{% endswitch %}`,
        ),
      fc
        .tuple(fc.constantFrom('upper', 'title', 'length', 'replace("o", 1)', 'trim'), body)
        .map(([name, inner]) => `{% filter ${name} %}${inner}{% endfilter %}`),
      fc.constantFrom(
        '{% include "included" %}',
        '{% include "none" ignore missing %}',
        '{% import "macros" as l %}{{ l.f(1) }}{{ l.w }}{{ l._w }}',
        '{% from "macros" import f, w as u with context %}{{ f(2) }}{{ u }}',
        '{% raw %}{{ x }}{% endraw %}',
        '{# c #}',
        '{% set l = [4, 5] %}{{ l.push(5) }}{{ l.pop() }}{{ l.unshift(0) }}{{ l.reverse() }}{{ l.shift() }}{{ l }}',
        '{%- if yes -%} y {%- endif -%}',
        '{% set j = joiner("-") %}{% for i in list %}{{ j() }}{{ i }}{% endfor %}',
        '{% set c = cycler(1, "b") %}{% for i in list %}{{ c.next() }}{{ c.current }}{% endfor %}{{ c.reset() }}{{ c.current }}',
      ),
    ),
  };
});

const page = fc.oneof(
  { weight: 4, arbitrary: statements.body },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('"base"', '"middle"'), statements.body, statements.body, statements.body)
      .map(
        ([layout, top, a, b]) =>
          `{% extends ${layout} %}${top}{% block a %}${a}{{ super() }}{% endblock %}{% block b %}${b}{% endblock %}`,
      ),
  },
);

/** Templates, by what they are about. */
const named: Record<string, string[]> = {
  'variables that loops set': [
    '{% set x = 0 %}{% for i in list %}{% set x = x + i %}{% endfor %}{{ x }}',
    '{% for i in list %}{% set y = (y or 0) + i %}{{ y }},{% endfor %}[{{ y }}]',
    '{% set q = 1 %}{% macro m() %}{{ q }}{% endmacro %}{% for i in list %}{% set q = i %}{{ m() }}{% endfor %}{{ q }}',
    '{% set x = 5 %}{% if yes %}{% set x = 6 %}{% endif %}{% for i in [1] %}{% set x = 7 %}{% set w = 8 %}{% endfor %}{{ x }}{{ w }}',
    '{% set a, b = 5 %}{{ a }}{{ b }}',
  ],
  loops: [
    '{% for x in dict %}{{ x }}{% else %}none{% endfor %}|{% for k, v in dict %}{{ k }}{{ v }}{{ loop.index }}{% endfor %}',
    '{% for a, b in nested %}{{ a }}-{{ b }}{% endfor %}|{% for k, v in "ab" %}{{ k }}{{ v }}{% endfor %}|{% for x in 5 %}a{% else %}b{% endfor %}',
    '{% for i in list %}{% for j in list %}{{ loop.index }}{% endfor %}{{ loop.revindex }}{{ loop.first }}{% endfor %}',
    '{% asyncEach i in list %}{{ i }}{{ loop.last }}{% endeach %}{% asyncAll i in list %}{{ i }}{% endall %}{% ifAsync yes %}a{% endif %}',
  ],
  operators: [
    '{{ not 1 == 2 }}|{{ 1 ~ 2 + 3 }}|{{ 5 * 3 % 2 }}|{{ 7 // 2 * 2 }}|{{ 2 ** 3 ** 2 }}|{{ "a" ~ 5 - 1 }}|{{ 9 // 2 % 3 }}|{{ 1 < 2 < 3 }}',
    '{{ missing ~ "x" }}|{{ none ~ 1 }}|{{ 1 + none }}|{{ 1 + missing }}|{{ "a" + list }}|{{ dict + 1 }}|{{ true + 1 }}',
    '{{ 1 == "1" }}|{{ none == missing }}|{{ 0 == "" }}|{{ list == "3,1,2" }}|{{ null == 0 }}|{{ "1" in list }}|{{ "a" in dict }}',
  ],
  'texts and numbers': [
    '{{ text | truncate(7) }}|{{ text | truncate(6) }}|{{ text | truncate(3, true) }}|{{ text | truncate(5, false, "?") }}',
    '{{ hex | int(base=16) }}|{{ digits | int }}|{{ "x" | int(5) }}|{{ "x" | int }}|{{ "y" | float(2) }}',
    '{{ "a\\\\b" | escape }}|{{ "a\\\\b" }}',
    '{{ none | replace("a", "b") }}|{{ missing | replace("a", "b") }}|{{ 123 | replace(2, 9) }}|{{ list | replace(1, 2) }}|{{ "ab" | replace("", ".") }}|{{ text | replace(none, 1) }}|{{ text | replace("foo", missing) }}',
    '[{{ none | center }}][{{ "ab" | center(7) }}]|{{ none | wordcount }}|{{ "" | wordcount }}|{{ text | wordcount }}',
    '{{ zero.toFixed(1) }}|{{ zero.toFixed() ~ zero }}|{{ zero.toPrecision(3) | float }}|{{ zero.toString(2) == zero }}|{{ "y" if zero.toFixed(2) }}',
    '{{ 2.5 | round }}|{{ 1.005 | round(2) }}|{{ 4.567 | round(1, "floor") }}|{{ missing | round }}|{{ none | round }}',
  ],
  lists: [
    '{{ words | sort }}|{{ words | sort(false, true) }}|{{ items | sort(attribute="n", reverse=true) | join(",", "n") }}',
    '{{ dict | dictsort }}|{{ dict | dictsort(true) }}|{{ dict | dictsort(false, "value") }}',
    '{{ items | groupby("name") }}{% for k, v in items | groupby("name") %}{{ k }}{{ v }}{% endfor %}',
    '{{ dict }}|{{ nested }}|{{ items }}|{{ [missing, none] }}|{{ [missing, none] | dump }}',
    '{{ ["only"] | random }}|{{ range() }}|{{ range(0, 4, 0) }}',
  ],
  'macros, blocks and other templates': [
    '{% macro m(a, b=2, c=3) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, c=7) }}{{ m(a=9) }}{{ m(1, 2, 3, 4) }}{{ m(b=missing) }}',
    '{% block x %}{% macro m() %}mm{% endmacro %}{% endblock %}{% block y %}{{ m() }}{% endblock %}',
    '{% extends "base" %}{% block a %}{% macro m() %}mm{% endmacro %}{% endblock %}{% block b %}{{ m() }}{% endblock %}',
    '{% extends "middle" %}{% block a %}X{{ super() }}{% endblock %}{% set v = 3 %}',
    '{% if yes %}{% extends "base" %}{% endif %}{% block a %}Q{% endblock %}',
    '{% if no %}{% extends "base" %}{% endif %}{% block a %}Q{% endblock %}',
    '{% set v = 1 %}{% include "included" %}{% for i in list %}{% set v = i %}{% include "included" %}{% endfor %}{{ v }}',
    '{% set v = 1 %}{% import "macros" as l %}{{ l.f(1) }}|{% import "macros" as l with context %}{{ l.f(1) }}',
    '{% set l = [1] %}{% import "macros" as l %}{{ l.w }}{{ l }}',
  ],
  'calls in calls, blocks in blocks': [
    '{% macro w(t) %}({{ t }}{{ caller("p", 2) }}){% endmacro %}{% call(a, b) w("h") %}{{ a }}{{ b }}{% endcall %}',
    '{% macro w() %}{{ caller() }}{{ caller() }}{% endmacro %}{% call w() %}x{% call w() %}y{% endcall %}{% endcall %}',
    '{% macro w() %}{% for i in list %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(i) w() %}({{ i }}{{ i * 2 }}){% endcall %}',
    '{% macro f(n) %}{% if n > 1 %}{{ n }}*{{ f(n - 1) }}{% else %}1{% endif %}{% endmacro %}{{ f(4) }}',
    '{% extends "between" %}{% block outer %}!{{ super() }}!{% endblock %}{% block inner %}3{{ super() }}3{% endblock %}{% set v = 4 %}',
    '{% extends "between" %}{% block inner %}{% for i in list %}{{ super() }}{{ i }}{% endfor %}{{ super() | upper }}{% endblock %}',
    '{% for v in list %}{% include "between" %}{% endfor %}{% set which = "between" %}{% include which %}',
  ],
  'loops in loops': [
    '{% for a in nested %}{{ loop.index }}:{% for b in a %}{{ loop.revindex0 }}{{ loop.last }}{% endfor %}:{{ loop.length }};{% endfor %}{{ loop.index }}',
    '{% for a in list %}{% set outer = loop.index0 %}{% for k, v in dict %}{{ outer }}-{{ loop.index }}{{ k }},{% endfor %}{% endfor %}',
    '{% macro m(q) %}{% for z in q %}{{ loop.revindex }}{% endfor %}{{ loop.index }}{% endmacro %}{% for a in nested %}{{ m(a) }}{{ loop.first }}|{% endfor %}',
  ],
  'whitespace and chains': [
    'A \n {%- if yes -%} \n B {{- text -}} \n {#- c -#} \t C {%- else -%} x {%- endif -%} \n D',
    'x {%- for i in list -%} \n {{ i }} {%- endfor %} y {% raw %} {{ i }} {% endraw %} z',
    'x {%- set q -%} {{ text }} {%- endset -%} y[{{ q }}] {%- switch digits -%} {%- case "42" -%} b {%- default -%} c {%- endswitch -%} z',
    '{{ text | replace("foo", "x") | upper | truncate(5, true, "\u2026") }}|{{ words | join(",") | upper | replace(",", "-") }}|{{ items | groupby("type") | dump }}',
    '{{ items | sort(attribute="n", reverse=true) | first | dump }}|{{ mixed | select("number") | dump }}|{{ list | batch(2, "x") | dump }}',
  ],
};

/** Templates that we render differently, on purpose: the package, and ours. */
const different: [string, string, string | undefined, string | undefined][] = [
  [
    'markup is not escaped twice',
    '{% set x %}<b>{% endset %}{{ x }}{{ lines | nl2br }}',
    '&lt;b&gt;a&lt;br /&gt;\nb&lt;br /&gt;\nc',
    '<b>a<br />\nb<br />\nc',
  ],
  [
    'values are escaped for their place',
    '<a href="{{ "javascript:x" }}">',
    '<a href="javascript:x">',
    '<a href="#blocked">',
  ],
  ['nothing of JavaScript', '{{ text.constructor }}{{ dict.toString }}', 'function', ''],
  ['no regular expressions', '{{ r/a/.test("a") }}', 'true', undefined],
  ['what is missing is empty', '[{{ missing | trim }}]', undefined, '[]'],
  ['safe text is text', '{{ "abc" | safe | reverse }}', ',,', 'cba'],
  ['sorted for readers', '{{ ["f", "\u00e9", "e"] | sort }}', 'e,f,\u00e9', 'e,\u00e9,f'],
  ['characters stay whole', '{{ "a\u{1f600}" | reverse }}', '\ude00\ud83da', '\u{1f600}a'],
  ['arguments by name', '{{ missing | default(default="a") }}', '[object Object]', 'a'],
  ['a test for an attribute', '{{ items | selectattr("n", "gt", 1) | length }}', '3', '2'],
  ['a path for an attribute', '{{ [user] | join("", "address.city") }}', '', 'Paris'],
  [
    'calls see where they stand',
    '{% macro m() %}{{ caller() }}{% endmacro %}{% for i in [1] %}{% set y = i %}{% call m() %}{{ y }}{% endcall %}{% endfor %}',
    '',
    '1',
  ],
  [
    'a block inside a block has a parent of its own',
    '{% extends "outer" %}{% block outer %}{% block inner %}n{{ super() }}{% endblock %}{% endblock %}',
    'D(n)',
    'D(ni)',
  ],
];

// More of them find more: NUNJUCKS_RUNS=20000 takes minutes.
const runs = Number(process.env['NUNJUCKS_RUNS'] ?? 150);

describe('the template language', () => {
  it('has all filters, tests and globals of the package', () => {
    const theirs = new Environment(loader) as unknown as Record<'filters' | 'tests' | 'globals', object>;
    const ours = globals({ meter: new Meter() }).map(([name]) => name);

    expect(Object.keys(filters)).toEqual(expect.arrayContaining(Object.keys(theirs.filters)));
    expect(Object.keys(tests)).toEqual(expect.arrayContaining(Object.keys(theirs.tests)));
    expect(ours).toEqual(expect.arrayContaining(Object.keys(theirs.globals)));
  });

  it.each(Object.keys(named))('renders what the package renders: %s', (topic) => {
    for (const source of named[topic]!) {
      expect(sameAsPackage({ source, isMarkup: false })).toBe(true);
      expect(sameAsPackage({ source, isMarkup: true })).toBe(true);
    }
  });

  it.each([
    ['text', false],
    ['markup', true],
  ])('renders what the package renders: generated templates as %s', (_, isMarkup) => {
    let compared = 0;
    fc.assert(
      fc.property(page, (source) => {
        if (sameAsPackage({ source, isMarkup })) compared++;
      }),
      { numRuns: runs },
    );

    expect(compared).toBeGreaterThan(runs / 4);
  });

  it.each(different)('differs on purpose: %s', (_, source, theirs, ours) => {
    const outcome = (render: typeof withOurs): string | undefined => {
      try {
        return render({ source, isMarkup: true });
      } catch {
        return undefined;
      }
    };

    expect(outcome(withOurs)).toBe(ours);
    if (theirs === undefined) expect(outcome(withPackage)).toBeUndefined();
    else expect(outcome(withPackage)).toContain(theirs);
  });
});
