import { keep } from './stored-state';

describe('what is kept for a reload', () => {
  afterEach(() => Reflect.deleteProperty(globalThis, 'sessionStorage'));

  it('is forgotten, and stops nothing, where the window has no space for it', () => {
    const stored = new Map([['name', '"before"']]);
    const sessionStorage = {
      setItem: () => {
        throw new Error('The quota has been exceeded.');
      },
      removeItem: (key: string) => stored.delete(key),
    };
    Object.assign(globalThis, { sessionStorage });
    keep('name', 'x'.repeat(10));
    expect(stored.size).toBe(0);
  });
});
