import { keyOfBootstrap, toBootstrap } from './bootstrap-response';

describe('the key of texts', () => {
  const resources = { Shop: { title: 'Shop' }, Invoice: { title: 'Invoice' } };
  const found = { culture: 'en', resources, isComplete: true, etag: '"1"' };
  const keyOf = (names?: string[]) => keyOfBootstrap(found, toBootstrap(found, names), names);

  it('is the same whatever else is asked for that there is not, however often and in which order', () => {
    const key = keyOf(['Shop', 'Invoice']);
    expect(keyOf(['Invoice', 'Nowhere', 'Shop', 'Invoice'])).toBe(key);
    expect(keyOf(['Nowhere'])).toBe(keyOf(['Elsewhere']));
  });

  it('is another one for other texts', () => {
    const all = [undefined, ['Nowhere'], ['Shop'], ['Invoice'], ['Shop', 'Invoice']];
    expect(new Set(all.map(keyOf)).size).toBe(all.length);
    expect(keyOfBootstrap({ ...found, etag: '"2"' }, found)).not.toBe(keyOf());
  });
});
