import type { SettingDefinition, SettingSource } from '@plinth/contracts/settings/shapes';
import { tagOf } from './visible-value';

const secret: SettingDefinition = {
  name: 'Mail.Password',
  description: '',
  defaultValue: null,
  scopes: ['user', 'tenant'],
  isVisibleToUsers: true,
  isSecret: true,
  schema: { type: 'string' },
};
const tag = (source: SettingSource, value: string) =>
  tagOf(secret, 'user', { source, value, locked: false, overrides: [] });

describe('the tag of a secret', () => {
  it('tells nothing of what the configuration holds, which is not sealed', () => {
    expect(tag('Config', 'hunter2')).toBe(tag('Config', 'hunter3'));
  });

  it('changes with what is stored, which is sealed', () => {
    expect(tag('Tenant', 'sealed-1')).not.toBe(tag('Tenant', 'sealed-2'));
    expect(tag('Tenant', 'sealed-1')).not.toBe(tag('Config', 'hunter2'));
  });
});
