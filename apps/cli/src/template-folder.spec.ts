import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readFolder, writeFolder, type TemplateFile } from './template-folder';

let around: string;
let folder: string;
beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), 'plinth-folder-'));
  folder = join(around, 'templates');
  writeFileSync(join(around, 'secret'), 'of the user');
});
afterEach(() => rmSync(around, { recursive: true }));

const template = (change: Partial<TemplateFile> = {}): TemplateFile => ({
  name: 'a',
  culture: null,
  category: null,
  mimeType: 'text/html',
  content: 'content',
  ...change,
});
const listed = (file: string) =>
  writeFileSync(join(folder, 'templates.json'), JSON.stringify([{ ...template(), file }]));

describe('a folder of templates', () => {
  it('gives back what was written, whatever the platform names it, and writes nothing beside it', () => {
    const written = [
      template({ name: '../x', culture: '/../../secret' }),
      template({ name: '..', culture: '..' }),
      template({ name: 'a/b\\c*', culture: 'fr-CA' }),
    ];
    writeFolder(folder, written);
    expect(readFolder(folder)).toEqual(written);
    expect(readdirSync(around).sort()).toEqual(['secret', 'templates']);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it('has a file for each template, whatever their names and cultures, and gives them all back', () => {
    const name = fc
      .tuple(
        fc.string({ unit: fc.constantFrom('a', 'A', '.', '~', 'fr', '2', 'é', '/', 'txt') }),
        fc.boolean(),
      )
      .map(([text, isLong]) => (isLong ? 'x'.repeat(250) + text : text));
    const culture = fc.constantFrom(null, 'fr', 'fr-CA', 'FR', '2');
    const mimeType = fc.constantFrom('text/html', 'text/plain', 'application/json');
    const templates = fc.uniqueArray(
      fc.record({ name, culture, mimeType, category: fc.constant(null), content: fc.uuid() }),
      { selector: (one) => JSON.stringify([one.name, one.culture]) },
    );
    fc.assert(
      fc.property(templates, (written) => {
        writeFolder(folder, written);
        expect(readFolder(folder)).toEqual(written);
        const files = readdirSync(folder);
        expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(written.length + 1);
      }),
    );
  });

  it('names a template without culture and one with it unmistakably', () => {
    writeFolder(folder, [
      template({ name: 'a.fr' }),
      template({ culture: 'fr' }),
      template({ name: 'A.FR' }),
    ]);
    expect(readdirSync(folder).sort()).toEqual(['A.FR~2.html', 'a.fr.html', 'a~fr.html', 'templates.json']);
  });

  it.each(['../secret', '..', '', '..\\secret', '/etc/passwd'])(
    'neither reads nor removes what a manifest from elsewhere names outside of it: %j',
    (file) => {
      writeFolder(folder, []);
      listed(file);
      expect(() => readFolder(folder)).toThrow(/is no name of a file/);
      expect(() => writeFolder(folder, [])).toThrow(/is no name of a file/);
      expect(existsSync(join(around, 'secret'))).toBe(true);
    },
  );

  it('neither reads nor writes through links', () => {
    writeFolder(folder, []);
    symlinkSync(join(around, 'secret'), join(folder, 'a.html'));
    listed('a.html');
    expect(() => readFolder(folder)).toThrow(/is no file/);
    expect(() => writeFolder(folder, [template()])).toThrow(/is no file/);
    expect(readFileSync(join(around, 'secret'), 'utf8')).toBe('of the user');
  });
});
