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
