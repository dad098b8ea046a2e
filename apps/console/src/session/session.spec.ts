import type * as SessionModule from './session';
import { SESSION_KEY, type Session } from './stored-session';

const ada = { userId: 'ada', tenantId: 'a tenant' };
const sessionWith = (token: string): Session => ({
  token,
  expiresAt: Date.now() + 60_000,
  idToken: `id ${token}`,
  tenantId: ada.tenantId,
});

let stored: Map<string, string>;
let session: typeof SessionModule;
const { sessionStorage } = globalThis;

beforeEach(async () => {
  stored = new Map([[SESSION_KEY, JSON.stringify(sessionWith('first'))]]);
  globalThis.sessionStorage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  } as Storage;
  jest.resetModules();
  session = await import('./session');
});
afterEach(() => void Object.assign(globalThis, { sessionStorage }));

describe('a token that the platform refuses', () => {
  it('is not waited for where nobody was at the window yet', async () => {
    expect(await session.sessionRenewed('first')).toBe(false);
    expect(session.isLapsed()).toBe(false);
  });

  it('lets wait until the person is back, once for all that wait', async () => {
    session.rememberPerson(ada);
    const waiting = [session.sessionRenewed('first'), session.sessionRenewed('first')];
    expect(session.isLapsed()).toBe(true);
    expect(session.currentSession()).toBeUndefined();
    expect(stored.size).toBe(0);
    session.beginSession(sessionWith('second'));
    expect(await Promise.all(waiting)).toEqual([true, true]);
    expect(session.isLapsed()).toBe(false);
    // One that was under way meanwhile goes on at once.
    expect(await session.sessionRenewed('first')).toBe(true);
  });

  it('lets nothing go on for whoever comes after the person left', async () => {
    session.rememberPerson(ada);
    const waiting = session.sessionRenewed('first');
    session.endSession();
    expect(await waiting).toBe(false);
    expect(session.hasPerson()).toBe(false);
  });

  it('says to the provider whose session ends there, until the person has left', async () => {
    session.rememberPerson(ada);
    void session.sessionRenewed('first');
    expect(session.idTokenOfPerson()).toBe('id first');
    session.beginSession(sessionWith('second'));
    expect(session.idTokenOfPerson()).toBe('id second');
    session.endSession();
    expect(session.idTokenOfPerson()).toBeUndefined();
  });
});

describe('the person of a window', () => {
  it('is the same only in the same tenant, also after their session ended', () => {
    expect(session.isPersonOfWindow(ada)).toBe(false);
    session.rememberPerson(ada);
    void session.sessionRenewed('first');
    expect(session.isPersonOfWindow(ada)).toBe(true);
    expect(session.isPersonOfWindow({ ...ada, userId: 'grace' })).toBe(false);
    expect(session.isPersonOfWindow({ ...ada, tenantId: 'another' })).toBe(false);
  });
});
