import fc from 'fast-check';
import { lockAbove, resolve, type LevelValues, type Locks } from './cascade';

const nothing: LevelValues = { user: null, tenant: null, global: null, config: null, default: null };
const unlocked: Locks = { tenant: false, global: false };

const anyValues = fc.record({
  user: fc.option(fc.constant('u')),
  tenant: fc.option(fc.constant('t')),
  global: fc.option(fc.constant('g')),
  config: fc.option(fc.constant('c')),
  default: fc.option(fc.constant('d')),
});

describe('the cascade of settings', () => {
  it('takes the first value that is not null: user, tenant, global, config, default', () => {
    fc.assert(
      fc.property(anyValues, (values) => {
        const expected = values.user ?? values.tenant ?? values.global ?? values.config ?? values.default;
        expect(resolve(values, unlocked, 'user').value).toBe(expected);
      }),
    );
  });

  it('ignores the levels below the scope at which it is seen', () => {
    const values = { ...nothing, user: 'u', global: 'g' };
    expect(resolve(values, unlocked, 'tenant')).toMatchObject({ value: 'g', source: 'Global' });
  });

  it('falls back to the tenant or global value when the user value is cleared', () => {
    const values = { ...nothing, tenant: 't', global: 'g' };
    expect(resolve({ ...values, user: 'u' }, unlocked, 'user').overrides).toEqual([
      { source: 'Tenant', value: 't' },
      { source: 'Global', value: 'g' },
    ]);
    expect(resolve(values, unlocked, 'user').value).toBe('t');
  });

  it('takes an empty text for a value', () => {
    expect(resolve({ ...nothing, user: '', tenant: 't' }, unlocked, 'user').value).toBe('');
  });

  it('ignores what is set below a lock', () => {
    const values = { ...nothing, user: 'u', tenant: 't', global: 'g' };
    expect(resolve(values, { tenant: true, global: false }, 'user')).toMatchObject({
      value: 't',
      locked: true,
    });
    expect(resolve(values, { tenant: false, global: true }, 'tenant')).toMatchObject({
      value: 'g',
      locked: true,
    });
    expect(resolve(values, { tenant: true, global: false }, 'tenant')).toMatchObject({
      value: 't',
      locked: false,
    });
  });

  it('forbids changes below the level of a lock only', () => {
    expect(lockAbove({ tenant: true, global: false }, 'user')).toBe('tenant');
    expect(lockAbove({ tenant: true, global: false }, 'tenant')).toBeUndefined();
    expect(lockAbove({ tenant: true, global: true }, 'tenant')).toBe('global');
    expect(lockAbove({ tenant: true, global: true }, 'global')).toBeUndefined();
  });
});
