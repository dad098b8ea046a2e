import type { SettingDefinition } from '@plinth/contracts/settings/shapes';

/** The settings that several services read. What one service alone reads, that service registers. */
export const platformDefinitions: SettingDefinition[] = [
  {
    name: 'Service.Localization.PreferredCulture',
    description: 'The language in which the platform speaks to a person.',
    defaultValue: null,
    scopes: ['user', 'tenant', 'global'],
    isVisibleToUsers: true,
    isSecret: false,
    schema: { type: 'string', format: 'culture' },
  },
  {
    name: 'Service.Timing.PreferredTimezone',
    description: 'The time zone in which times are shown to a person, as an IANA name.',
    defaultValue: null,
    scopes: ['user', 'tenant', 'global'],
    isVisibleToUsers: true,
    isSecret: false,
    schema: { type: 'string', format: 'time-zone' },
  },
  {
    name: 'Service.Console.Theme',
    description: 'Whether the console is light or dark; without a value it is as the system of the person.',
    defaultValue: null,
    scopes: ['user', 'tenant', 'global'],
    isVisibleToUsers: true,
    isSecret: false,
    schema: { type: 'string', enum: ['light', 'dark'] },
  },
];
