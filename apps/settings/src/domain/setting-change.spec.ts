import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { decideChange, requireAllowed } from './setting-change';
import type { Snapshot } from './snapshot';

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
    const write = { type: 'write', value: 'Hi', ifMatch: ['"of-another-value"'] } as const;
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
