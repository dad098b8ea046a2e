import { pagedResult } from '@plinth/kernel/paged-result';
import { batchOf, batchResult } from '@plinth/kernel/batch-result';
import { z } from 'zod';
import { Instant, Timestamp, text } from '../schemas';

export const SettingScope = z.enum(['user', 'tenant', 'global']).meta({ id: 'SettingScope' });
export type SettingScope = z.infer<typeof SettingScope>;

export const SettingName = text(200, 1).meta({ examples: ['Service.Localization.PreferredCulture'] });

const SettingValue = text(65_536)
  .nullable()
  .meta({ description: 'null where nothing is set; `***` for a secret.' });

export const SettingValueResponse = z
  .object({ name: z.string(), value: z.string().nullable() })
  .meta({ id: 'SettingValueResponse' });

export const SettingsMap = z.record(z.string(), z.string().nullable()).meta({ id: 'SettingsMap' });

export const UpdateSettingValueRequest = z
  .object({ value: SettingValue })
  .meta({ id: 'UpdateSettingValueRequest' });

/** What one item of a batch must obey; an item that does not fails alone. */
export const UpdateSettingRules = z.object({ name: SettingName, value: SettingValue });

export const UpdateSettingsRequest = batchOf(
  z.object({ name: z.string(), value: z.string().nullable() }),
).meta({ id: 'UpdateSettingsRequest' });

export const UpdateSettingsResult = batchResult(SettingValueResponse).meta({ id: 'UpdateSettingsResult' });

/** The levels of the cascade, the strongest first. */
export const SettingSource = z
  .enum(['User', 'Tenant', 'Global', 'Config', 'Default'])
  .meta({ id: 'SettingSource' });
export type SettingSource = z.infer<typeof SettingSource>;

export const EffectiveSetting = z
  .object({
    value: z.string().nullable(),
    source: SettingSource,
    locked: z.boolean().meta({ description: 'Whether a level above holds the value fast.' }),
    overrides: z.array(z.object({ source: SettingSource, value: z.string() })),
  })
  .meta({ id: 'EffectiveSetting' });

export const EffectiveSettings = z.record(z.string(), EffectiveSetting).meta({ id: 'EffectiveSettings' });

/** A setting as seen at one scope by who manages it there. */
const ManagedSetting = EffectiveSetting.extend({
  lockedHere: z
    .boolean()
    .meta({ description: 'Whether this level holds the value fast for those below it.' }),
}).meta({ id: 'ManagedSetting' });

export const ManagedSettings = z.record(z.string(), ManagedSetting).meta({ id: 'ManagedSettings' });

export const SettingDefinition = z
  .object({
    name: SettingName,
    description: z.string(),
    defaultValue: z.string().nullable(),
    scopes: z.array(SettingScope),
    isVisibleToUsers: z.boolean(),
    isSecret: z.boolean(),
    schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of the value.' }),
  })
  .meta({ id: 'SettingDefinition' });
export type SettingDefinition = z.infer<typeof SettingDefinition>;

export const SettingChangeKind = z
  .enum(['Set', 'Cleared', 'Locked', 'Unlocked'])
  .meta({ id: 'SettingChangeKind' });
export type SettingChangeKind = z.infer<typeof SettingChangeKind>;

export const SettingChange = z
  .object({
    id: z.uuid(),
    name: z.string(),
    scope: SettingScope,
    kind: SettingChangeKind,
    previousValue: z.string().nullable(),
    newValue: z.string().nullable(),
    changedAt: Timestamp,
    changedBy: z.string(),
  })
  .meta({ id: 'SettingChange' });

export const SettingHistory = pagedResult(SettingChange).meta({ id: 'SettingHistory' });

export const API_KEY_DAYS_MAX = 366;
export const API_KEY_DAYS = 90;

const PermissionName = text(200, 1)
  .refine((name) => name !== '*', {
    params: { rule: 'Format' },
    message: 'An API key names its permissions one by one.',
  })
  .meta({ examples: ['DataExchange.Imports.Execute'] });

export const ApiKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    hint: z.string().meta({ description: 'The beginning of the key, to recognize it by.' }),
    permissions: z.array(z.string()),
    createdAt: Timestamp,
    createdBy: z.string().meta({ description: 'The user as whom the key acts.' }),
    createdByName: z.string(),
    expiresAt: Timestamp,
    lastUsedAt: Timestamp.nullable().meta({ description: 'To the minute; null before the first use.' }),
    revokedAt: Timestamp.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyPage = pagedResult(ApiKey).meta({ id: 'ApiKeyPage' });

export const CreateApiKeyRequest = z
  .object({
    name: text(100, 1).meta({ description: 'What the key is for.' }),
    permissions: z.array(PermissionName).min(1).max(100),
    expiresAt: Instant.optional().meta({
      description: `At most ${API_KEY_DAYS_MAX} days from now; ${API_KEY_DAYS} days where it is left out.`,
    }),
  })
  .meta({ id: 'CreateApiKeyRequest' });
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const CreatedApiKey = ApiKey.extend({
  key: z.string().meta({
    description:
      'The key itself, for `Authorization: Bearer`. It is shown this once and cannot be read again.',
  }),
}).meta({ id: 'CreatedApiKey' });
