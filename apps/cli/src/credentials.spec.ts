import fs, {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { changeCredential, findCredential, storeCredential, type StoredCredential } from './credentials';

let configuration: string;
let file: string;
beforeEach(() => {
  configuration = mkdtempSync(join(tmpdir(), 'plinth-credentials-'));
  file = join(configuration, 'plinth', 'credentials', 'http%3A%2F%2Fa.json');
  jest.replaceProperty(process, 'env', { ...process.env, XDG_CONFIG_HOME: configuration });
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(configuration, { recursive: true });
});

const credential = (accessToken: string): StoredCredential => ({ accessToken, expiresAt: 0 });

describe('stored credentials', () => {
  it('are kept for each platform, readable by their owner only', () => {
    storeCredential('http://a', credential('of a'));
    storeCredential('http://b', credential('of b'));
    storeCredential('http://b', undefined);

    expect(findCredential('http://a')).toEqual(credential('of a'));
    expect(findCredential('http://b')).toBeUndefined();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual([basename(file)]);
  });

  it('are all there where several programs store one at the same time', () => {
    const rename = fs.renameSync;
    jest.spyOn(fs, 'renameSync').mockImplementationOnce((...paths) => {
      // Another program, at the worst moment.
      storeCredential('http://b', credential('of b'));
      rename(...paths);
    });

    storeCredential('http://a', credential('of a'));

    expect(findCredential('http://a')).toEqual(credential('of a'));
    expect(findCredential('http://b')).toEqual(credential('of b'));
  });

  it('are written beside the former ones, which stay whole until then', () => {
    storeCredential('http://a', credential('former'));
    const former = readFileSync(file, 'utf8');
    const sameFile = join(configuration, 'former.json');
    linkSync(file, sameFile);

    storeCredential('http://a', credential('new'));

    expect(findCredential('http://a')).toEqual(credential('new'));
    expect(readFileSync(sameFile, 'utf8')).toBe(former);
  });

  it.each(['', '{"http://a":', 'null'])(
    'that are damaged (%j) are none, and can be written again',
    (text) => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: 0o644 });

      expect(findCredential('http://a')).toBeUndefined();
      storeCredential('http://a', undefined);
      storeCredential('http://a', credential('new'));

      expect(findCredential('http://a')).toEqual(credential('new'));
      expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  it('are changed by one program after the other, also after one that failed', async () => {
    const first = Promise.withResolvers<void>();
    const states: string[] = [];
    const failing = changeCredential('http://a', async () => {
      await first.promise;
      states.push('first ends');
      throw new Error('The issuer is away.');
    });
    const second = changeCredential('http://a', () => void states.push('second begins'));
    await changeCredential('http://b', () => void states.push('of another platform'));
    first.resolve();

    await expect(failing).rejects.toThrow('The issuer is away.');
    await second;
    expect(states).toEqual(['of another platform', 'first ends', 'second begins']);
    expect(readdirSync(dirname(file))).toEqual([]);
  });

  it('can be changed where a program was killed while it changed them', async () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, 0, 0);

    await changeCredential('http://a', () => storeCredential('http://a', credential('new')));

    expect(findCredential('http://a')).toEqual(credential('new'));
  });
});
