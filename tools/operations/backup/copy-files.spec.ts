import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import type * as FileSystem from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyFiles } from './copy-files';

const fileSystem = jest.requireActual<typeof FileSystem>('node:fs/promises');
jest.mock('node:fs/promises', () => ({
  ...jest.requireActual('node:fs/promises'),
  opendir: jest.fn(),
  stat: jest.fn(),
}));

let folder: string;
let copy: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-files-'));
  copy = join(folder, 'backup');
  jest.mocked(opendir).mockImplementation(fileSystem.opendir);
  jest.mocked(stat).mockImplementation(fileSystem.stat as typeof stat);
});
afterEach(() => rmSync(folder, { recursive: true }));

const store = (key: string, content = key): string => {
  const path = join(folder, 'blobs', key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};
const copyAll = () => copyFiles(join(folder, 'blobs'), copy);
const copyOf = async (key: string): Promise<string> => {
  const path = store(key);
  await copyAll();
  return path;
};
const copied = () =>
  readdirSync(copy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

describe('copyFiles', () => {
  it('copies what is whole, and nothing that is still being stored', async () => {
    store('tenant/uploads/one');
    store('tenant/two');
    store('@partial/three.partial');
    store('tenant/four.partial');

    expect(await copyAll()).toBe(2);
    expect(copied()).toEqual(['one', 'two']);
    expect(readFileSync(join(copy, 'tenant/uploads/one'), 'utf8')).toBe('tenant/uploads/one');
  });

  it('leaves out files and folders that are removed while it looks at them', async () => {
    store('a/one');
    const removed = store('a/two');
    store('gone/three');
    jest.mocked(opendir).mockImplementation((path, options) => {
      if (String(path).endsWith('gone')) rmSync(path, { recursive: true });
      return fileSystem.opendir(path, options);
    });
    const statAndRemove = async (path: string) => {
      const found = await fileSystem.stat(path);
      if (path === removed) rmSync(path);
      return found;
    };
    jest.mocked(stat).mockImplementation(statAndRemove as typeof stat);

    expect(await copyAll()).toBe(1);
    expect(copied()).toEqual(['one']);
  });

  it('copies the second time what is new or not whole in the copy, and keeps what was removed since', async () => {
    rmSync(await copyOf('removed'));
    await copyOf('same');
    await copyOf('cut');
    writeFileSync(join(copy, 'cut'), 'cu');
    store('new');

    expect(await copyAll()).toBe(2);
    expect(copied()).toEqual(['cut', 'new', 'removed', 'same']);
    expect(readFileSync(join(copy, 'cut'), 'utf8')).toBe('cut');
    expect(await copyAll()).toBe(0);
  });

  it('copies nothing of a store that does not exist yet', async () => {
    expect(await copyAll()).toBe(0);
    expect(existsSync(copy)).toBe(false);
  });
});
