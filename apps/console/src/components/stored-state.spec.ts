import { sessionStorageForTests } from '../session/session-storage-for-tests';
import { SESSION_KEY } from '../session/stored-session';
import { forgetKept, keep, keeper, keepFor } from './stored-state';

const ada = { userId: 'ada', tenantId: 'a tenant' };
const stored = sessionStorageForTests();

describe('what is kept for a reload', () => {
  it('is forgotten, and stops nothing, where the window has no space for it', () => {
    stored.set('name', '"before"');
    globalThis.sessionStorage.setItem = () => {
      throw new Error('The quota has been exceeded.');
    };
    keep('name', 'x'.repeat(10));
    expect(stored.size).toBe(0);
  });

  it('is nothing of somebody who left, whose response comes afterwards', () => {
    const { keep, read } = keeper();
    keep('name', 'a draft');
    expect(read('name')).toBe('a draft');
    forgetKept();
    keep('name', 'a draft');
    expect(stored.size).toBe(0);
    keeper().keep('name', 'of the next person');
    expect(read('name')).toBeUndefined();
  });

  it('is there for the same person only, wherever another session begins', () => {
    stored.set(SESSION_KEY, '{}');
    keepFor(ada);
    keep('hidden-cultures', ['fr']);
    keepFor(ada);
    expect(keeper().read('hidden-cultures')).toEqual(['fr']);
    for (const other of [
      { ...ada, userId: 'grace' },
      { ...ada, tenantId: 'another' },
    ]) {
      const { keep } = keeper();
      keepFor(other);
      keep('hidden-cultures', ['fr']);
      expect(keeper().read('hidden-cultures')).toBeUndefined();
      expect(stored.get(SESSION_KEY)).toBe('{}');
    }
  });
});
