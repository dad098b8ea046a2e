import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { decideChange, requireAllowed, tagAfter } from './setting-change';
import { resolveSetting, type Snapshot } from './snapshot';
import { tagOf } from './visible-value';

const definition: SettingDefinition = {
  name: 'Shop.Greeting',
  description: '',
  defaultValue: 'Hello',
  scopes: ['user', 'tenant'],
  isVisibleToUsers: true,
  isSecret: false,
  schema: { type: 'string', maxLength: 10 },
};

const aSnapshot = ({ tenant, locked }: { tenant?: string; locked?: 'tenant' | 'global' } = {}): Snapshot => ({
  values: {
    user: new Map(),
    tenant: new Map(tenant === undefined ? [] : [[definition.name, tenant]]),
    global: new Map(),
    config: new Map(),
  },
  locked: {
    tenant: new Set(locked === 'tenant' ? [definition.name] : []),
    global: new Set(locked === 'global' ? [definition.name] : []),
  },
  sealed: new Set(),
});

describe('requireAllowed, for a change of a setting', () => {
  it('refuses a value that does not fit the schema', () => {
    expect(() => requireAllowed(definition, 'user', { type: 'write', value: 'Good morning' })).toThrow(
      expect.objectContaining({ slug: 'setting-value-invalid' }),
    );
  });

  it('refuses a scope that the definition does not allow, and a lock at user scope', () => {
    const notAllowed = expect.objectContaining({ slug: 'setting-scope-not-allowed' });
    expect(() => requireAllowed(definition, 'global', { type: 'write', value: 'Hi' })).toThrow(notAllowed);
    expect(() => requireAllowed(definition, 'user', { type: 'lock' })).toThrow(notAllowed);
  });
});

describe('decideChange, for a change of a setting', () => {
  it('sets a value and remembers the previous one', () => {
    expect(
      decideChange(aSnapshot({ tenant: 'Hey' }), definition, 'tenant', { type: 'write', value: 'Hi' }),
    ).toEqual({ kind: 'Set', previousValue: 'Hey', newValue: 'Hi' });
  });

  it('clears a value with null, and changes nothing where nothing is set', () => {
    const clear = { type: 'write', value: null } as const;
    expect(decideChange(aSnapshot({ tenant: 'Hey' }), definition, 'tenant', clear)).toEqual({
      kind: 'Cleared',
      previousValue: 'Hey',
      newValue: null,
    });
    expect(decideChange(aSnapshot(), definition, 'tenant', clear)).toBeUndefined();
  });

  it('changes nothing where the value is set already, unless it is a secret, of which only a sealed one is known', () => {
    const write = { type: 'write', value: 'Hi' } as const;
    expect(decideChange(aSnapshot({ tenant: 'Hi' }), definition, 'tenant', write)).toBeUndefined();
    expect(
      decideChange(aSnapshot({ tenant: 'Hi' }), { ...definition, isSecret: true }, 'tenant', write),
    ).toMatchObject({ kind: 'Set' });
    // The user's own value is another one, even where it equals that of the tenant.
    expect(decideChange(aSnapshot({ tenant: 'Hi' }), definition, 'user', write)).toMatchObject({
      kind: 'Set',
    });
  });

  it('refuses every change below a lock, and none at the level of the lock', () => {
    const write = { type: 'write', value: 'Hi' } as const;
    const refused = expect.objectContaining({ slug: 'setting-locked' });
    expect(() => decideChange(aSnapshot({ locked: 'tenant' }), definition, 'user', write)).toThrow(refused);
    expect(() =>
      decideChange(aSnapshot({ locked: 'global' }), definition, 'tenant', { type: 'unlock' }),
    ).toThrow(refused);
    expect(decideChange(aSnapshot({ locked: 'tenant' }), definition, 'tenant', write)).toMatchObject({
      kind: 'Set',
    });
  });

  it('refuses a change of a value that another change has replaced', () => {
    const write = { type: 'write', value: 'Hi', precondition: { ifMatch: ['"of-another-value"'] } } as const;
    expect(() => decideChange(aSnapshot(), definition, 'user', write)).toThrow(
      expect.objectContaining({ slug: 'stale-version' }),
    );
  });

  it('locks and unlocks a setting once', () => {
    const unlocked = aSnapshot();
    const locked = aSnapshot({ locked: 'tenant' });
    expect(decideChange(unlocked, definition, 'tenant', { type: 'lock' })?.kind).toBe('Locked');
    expect(decideChange(locked, definition, 'tenant', { type: 'lock' })).toBeUndefined();
    expect(decideChange(locked, definition, 'tenant', { type: 'unlock' })?.kind).toBe('Unlocked');
    expect(decideChange(unlocked, definition, 'tenant', { type: 'unlock' })).toBeUndefined();
  });
});

describe('tagAfter, for a change of a setting', () => {
  const tagSeen = (snapshot: Snapshot) =>
    tagOf(definition, 'tenant', resolveSetting(snapshot, definition, 'tenant'));

  it.each([
    [aSnapshot(), 'Hi', aSnapshot({ tenant: 'Hi' })],
    [aSnapshot({ tenant: 'Hey' }), 'Hi', aSnapshot({ tenant: 'Hi' })],
    [aSnapshot({ tenant: 'Hey' }), null, aSnapshot()],
    [aSnapshot(), null, aSnapshot()],
    [aSnapshot({ locked: 'tenant' }), 'Hi', aSnapshot({ tenant: 'Hi', locked: 'tenant' })],
  ])('is the tag of what is read then', (before, value, after) => {
    const change = decideChange(before, definition, 'tenant', { type: 'write', value });
    expect(tagAfter(before, definition, 'tenant', change)).toBe(tagSeen(after));
  });

  it('is as before where the change is a lock', () => {
    const before = aSnapshot({ tenant: 'Hey' });
    const change = decideChange(before, definition, 'tenant', { type: 'lock' });
    expect(tagAfter(before, definition, 'tenant', change)).toBe(
      tagSeen(aSnapshot({ tenant: 'Hey', locked: 'tenant' })),
    );
  });
});
