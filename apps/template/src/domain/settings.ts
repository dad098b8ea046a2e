import type { SettingDefinition } from '@plinth/contracts/settings/shapes';

export const APPROVAL_REQUIRED = 'Service.Templates.ApprovalRequired';

/** The settings that this service reads, and registers with the settings service. */
export const settingDefinitions: readonly SettingDefinition[] = [
  {
    name: APPROVAL_REQUIRED,
    description: 'Whether templates must be reviewed before they are published.',
    defaultValue: 'false',
    scopes: ['tenant', 'global'],
    isVisibleToUsers: true,
    isSecret: false,
    schema: { type: 'string', enum: ['true', 'false'] },
  },
];
