import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatText } from './format-text';
import { resourceNames } from './texts-selection';

type Texts = { [key: string]: string | Texts };

const resources = join(__dirname, '../../../localization/src/resources');
const folderOf = (resource: string) =>
  join(resources, resource.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase());
const textsOf = (texts: Texts): string[] =>
  Object.values(texts).flatMap((text) => (typeof text === 'string' ? [text] : textsOf(text)));

const all = resourceNames.flatMap((resource) =>
  readdirSync(folderOf(resource)).flatMap((file) => {
    const { culture, texts } = JSON.parse(readFileSync(join(folderOf(resource), file), 'utf8'));
    return textsOf(texts).map((text) => ({ text, culture: culture as string }));
  }),
);
/** What a person or an import may put in the place of a text. */
const broken = (text: string): string[] => [
  `${text} {`,
  `${text} }`,
  `<b ${text}`,
  `<b>${text} {`,
  `${text} {since}`,
  `${text} {count, plural, one {`,
  `${text} {count, plural, one {#} other {#}}`,
  `${text} {when, date, long}`,
];

it('shows every text of the console, whatever was written in its place', () => {
  expect(all.length).toBeGreaterThan(1_000);
  for (const { text, culture } of all) {
    expect(typeof formatText(text, culture)).toBe('string');
    for (const override of broken(text)) expect(typeof formatText(override, culture)).toBe('string');
  }
});

it.each([
  ['Imports {', {}, 'Imports {'],
  ['<b', {}, '<b'],
  ['<b>{name}', { name: 'Ada' }, '<b>Ada'],
  ['Open {since}', {}, 'Open {since}'],
  ['{name} of {since}', { name: 'Ada' }, 'Ada of {since}'],
  ["l'{0}", { 0: 'import' }, "l'import"],
  ["C'est l''import '{0}'", { 0: 'A' }, "C'est l''import 'A'"],
  ['{count, plural, one {# row} other {# rows}}', { count: 1_200 }, '1,200 rows'],
])('shows %s as a message, and as it is where it is none', (text, values, shown) => {
  expect(formatText(text, 'en', values)).toBe(shown);
});

it('writes dates in the time zone of the person', () => {
  const at = new Date('2026-03-09T23:30:00Z');
  expect(formatText('{at, date, ::d}', 'en', { at }, 'Europe/Paris')).toBe('10');
});
