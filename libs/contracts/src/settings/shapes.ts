import { pagedResult } from '@plinth/kernel/paged-result';
import { batchOf, batchResult } from '@plinth/kernel/batch-result';
import { z } from 'zod';
import { Timestamp, text } from '../schemas';

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

export const SettingDefinition = z
  .object({
    name: z.string(),
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
