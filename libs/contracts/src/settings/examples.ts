const key = {
  id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
  name: 'Nightly import',
  hint: 'plinth_Qm7x',
  permissions: ['DataExchange.Imports.Execute'],
  createdAt: '2026-11-21T12:00:00.000Z',
  createdBy: 'ada',
  createdByName: 'Ada Lovelace',
  expiresAt: '2027-02-19T12:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
  revokedBy: null,
};

const timezone = {
  value: 'Europe/Paris',
  source: 'User',
  locked: false,
  overrides: [{ source: 'Tenant', value: 'Europe/London' }],
};

/** Examples of the shapes of settings and API keys, by the names of the shapes. */
export const settingsExamples: Record<string, unknown> = {
  SettingValueResponse: { name: 'Service.Timing.PreferredTimezone', value: 'Europe/Paris' },
  SettingsMap: {
    'Service.Localization.PreferredCulture': 'fr',
    'Service.Timing.PreferredTimezone': 'Europe/Paris',
  },
  UpdateSettingValueRequest: { value: 'fr' },
  UpdateSettingsRequest: { items: [{ name: 'Service.Timing.PreferredTimezone', value: 'Europe/Paris' }] },
  EffectiveSettings: { 'Service.Timing.PreferredTimezone': timezone },
  ManagedSettings: { 'Service.Timing.PreferredTimezone': { ...timezone, lockedHere: false } },
  SettingDefinition: {
    name: 'Service.Timing.PreferredTimezone',
    description: 'The time zone in which a user sees times.',
    defaultValue: 'Etc/UTC',
    scopes: ['user', 'tenant', 'global'],
    isVisibleToUsers: true,
    isSecret: false,
    schema: { type: 'string' },
  },
  SettingChange: {
    id: '01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55',
    name: 'Service.Timing.PreferredTimezone',
    scope: 'user',
    kind: 'Set',
    previousValue: 'Europe/London',
    newValue: 'Europe/Paris',
    changedAt: '2026-11-21T12:00:00.000Z',
    changedBy: 'ada',
  },
  ApiKey: key,
  CreateApiKeyRequest: { name: key.name, permissions: key.permissions },
  CreatedApiKey: { ...key, key: 'plinth_Qm7x…' },
};
