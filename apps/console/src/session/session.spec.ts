import type * as SessionModule from './session';
import { sessionStorageForTests } from './session-storage-for-tests';
import { SESSION_KEY, type Session } from './stored-session';

const ada = { userId: 'ada', tenantId: 'a tenant' };
const sessionWith = (token: string): Session => ({
  token,
  expiresAt: Date.now() + 60_000,
  idToken: `id ${token}`,
  tenantId: ada.tenantId,
});

let session: typeof SessionModule;
const stored = sessionStorageForTests();

beforeEach(async () => {
  stored.set(SESSION_KEY, JSON.stringify(sessionWith('first')));
  jest.resetModules();
  session = await import('./session');
});

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
    expect(stored.has(SESSION_KEY)).toBe(false);
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
  it('finds nothing that another one kept, whose session ended by itself', () => {
    session.rememberPerson(ada);
    stored.set('hidden-cultures', '["fr"]');
    session.rememberPerson(ada);
    expect(stored.has('hidden-cultures')).toBe(true);
    session.endSession();
    session.beginSession(sessionWith('second'));
    session.rememberPerson({ ...ada, userId: 'grace' });
    expect(stored.has('hidden-cultures')).toBe(false);
    expect(session.currentSession()?.token).toBe('second');
  });

  it('is the same only in the same tenant, also after their session ended', () => {
    expect(session.isPersonOfWindow(ada)).toBe(false);
    session.rememberPerson(ada);
    void session.sessionRenewed('first');
    expect(session.isPersonOfWindow(ada)).toBe(true);
    expect(session.isPersonOfWindow({ ...ada, userId: 'grace' })).toBe(false);
    expect(session.isPersonOfWindow({ ...ada, tenantId: 'another' })).toBe(false);
  });
});
