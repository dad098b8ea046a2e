/** What the window of a test keeps, by its names: nothing when the test begins. The specs that call this have no browser. */
export function sessionStorageForTests(): Map<string, string> {
  const stored = new Map<string, string>();
  const { sessionStorage } = globalThis;
  beforeEach(() => {
    stored.clear();
    globalThis.sessionStorage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
      clear: () => stored.clear(),
    } as Storage;
  });
  afterEach(() => void Object.assign(globalThis, { sessionStorage }));
  return stored;
}
