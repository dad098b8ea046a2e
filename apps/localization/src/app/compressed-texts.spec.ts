import { gunzipSync } from 'node:zlib';
import { CompressedTexts } from './compressed-texts';

const textOf = async (compressing: Promise<Buffer>): Promise<unknown> =>
  JSON.parse(gunzipSync(await compressing).toString());

describe('CompressedTexts', () => {
  it('compresses once what many read at the same time', async () => {
    const texts = new CompressedTexts();
    const read = jest.fn(async () => Buffer.from('{"title":"Shop"}'));
    const all = await Promise.all([1, 2, 3].map(() => textOf(texts.of('a', 'acme', read))));
    expect(all).toEqual([{ title: 'Shop' }, { title: 'Shop' }, { title: 'Shop' }]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('does not fail for those who wait for one whose client disconnected', async () => {
    const texts = new CompressedTexts();
    const left = new Error('disconnected');
    const [first, ...others] = await Promise.allSettled([
      texts.of('a', 'acme', () => Promise.reject(left)),
      texts.of('a', 'acme', async () => Buffer.from('{}')),
      texts.of('a', 'acme', () => Promise.reject(new Error('is not called'))),
    ]);
    expect(first).toEqual({ status: 'rejected', reason: left });
    expect(others.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('waits for no other tenant, in whose share the same is made', async () => {
    const texts = new CompressedTexts();
    void texts.of('a', 'globex', () => new Promise(() => undefined));
    const json = Buffer.from('{"title":"Shop"}');
    expect(await textOf(texts.of('a', 'acme', async () => json))).toEqual({ title: 'Shop' });
    const known = texts.of('a', 'initech', () => Promise.reject(new Error('is not called')));
    expect(await textOf(known)).toEqual({ title: 'Shop' });
  });

  it('forgets what was not read for the longest time when it holds too many bytes', async () => {
    const texts = new CompressedTexts(2_500);
    const read = jest.fn(async (key: string) =>
      Buffer.from(JSON.stringify({ key, text: 'x'.repeat(1_000) })),
    );
    const get = (key: string) => textOf(texts.of(key, 'acme', () => read(key)));
    for (const key of ['a', 'b', 'a', 'c', 'a']) await get(key);
    expect(read.mock.calls.flat()).toEqual(['a', 'b', 'c']);
    await get('b');
    expect(read.mock.calls.flat()).toEqual(['a', 'b', 'c', 'b']);
  });

  it('holds no more memory than it counts, however short the texts are', async () => {
    const texts = new CompressedTexts(10_000);
    const all = [];
    for (let index = 0; index < 100; index++)
      all.push(await texts.of(`${index}`, 'acme', async () => Buffer.from('{}')));
    expect(new Set(all.map(({ buffer }) => buffer)).size).toBe(100);
    expect(all.every((bytes) => bytes.buffer.byteLength === bytes.length)).toBe(true);
    const read = jest.fn(async () => Buffer.from('{}'));
    for (let index = 99; index >= 0; index--) await texts.of(`${index}`, 'acme', read);
    expect(read.mock.calls.length).toBeGreaterThan(90);
  });
});
