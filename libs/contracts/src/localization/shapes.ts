import { lengthOf } from '@plinth/kernel/text';
import { pagedResult } from '@plinth/kernel/paged-result';
import { z } from 'zod';
import { Culture, text } from '../schemas';

export const OVERRIDE_KEY_LENGTH_MAX = 500;
export const OVERRIDE_VALUE_LENGTH_MAX = 4_000;
export const RESOURCE_NAME_LENGTH_MAX = 128;

/** Name of a set of texts that one service or one team owns. */
export const ResourceName = text(RESOURCE_NAME_LENGTH_MAX, 1).meta({ examples: ['Workflow'] });

/** Flattened key of a text inside its resource. */
export const TextKey = text(OVERRIDE_KEY_LENGTH_MAX, 1).meta({ examples: ['outcomes.Denied'] });

/** A translated text, stored exactly as it was sent; it may be empty. */
export const TextValue = z
  .string()
  .refine((value) => lengthOf(value) <= OVERRIDE_VALUE_LENGTH_MAX, {
    params: { rule: 'MaximumLength' },
    message: `At most ${OVERRIDE_VALUE_LENGTH_MAX} characters.`,
  })
  .meta({ maxLength: OVERRIDE_VALUE_LENGTH_MAX });

export const LanguageInfo = z
  .object({
    cultureName: z.string().meta({ description: 'BCP 47 language tag' }),
    displayName: z.string().meta({ description: 'Name of the language in the language itself' }),
    flagIcon: z
      .string()
      .optional()
      .meta({ description: 'ISO 3166 code of the country whose flag stands for it' }),
    isDefault: z.boolean().meta({ description: 'Whether user interfaces preselect it' }),
  })
  .meta({ id: 'LanguageInfo' });

/** Texts of one resource by their flattened keys. */
export const ResourceTexts = z
  .record(z.string(), z.string())
  .meta({ id: 'ResourceTexts', description: 'Translated texts by their flattened keys' });

export const LocalizationBootstrap = z
  .object({
    currentCulture: z.string().meta({ description: 'The culture that was found for the one asked for' }),
    cultureName: z.string().meta({ description: 'The same as `currentCulture`' }),
    resources: z.record(z.string(), ResourceTexts),
    languages: z.array(LanguageInfo),
  })
  .meta({ id: 'LocalizationBootstrap' });

export const LocalizationOverride = z
  .object({ resourceName: z.string(), cultureName: z.string(), key: z.string(), value: z.string() })
  .meta({ id: 'LocalizationOverride' });

const FormerValue = z.string().nullable().optional();

/** One override of a batch, and what it replaces. */
export const SaveLocalizationOverride = LocalizationOverride.extend({
  formerValue: FormerValue.meta({
    description:
      'The value of the override as it was read, null where there was none: another one is not replaced. Left out, any is.',
  }),
}).meta({ id: 'SaveLocalizationOverride' });

export const RemoveLocalizationOverride = z
  .object({
    resourceName: ResourceName,
    cultureName: Culture,
    key: TextKey,
    formerValue: FormerValue.meta({
      description:
        'The value of the override as it was read, null where there was none: another one is not removed. Left out, any is.',
    }),
  })
  .meta({ id: 'RemoveLocalizationOverride' });

/** How a text reads in one culture. */
const LocalizationTextValue = z
  .object({
    cultureName: z.string(),
    platformValue: z.string().nullable().meta({
      description: 'What the platform says, in this culture or the nearest one that it falls back to',
    }),
    platformCulture: z
      .string()
      .nullable()
      .meta({ description: 'The culture that `platformValue` comes from' }),
    value: z
      .string()
      .nullable()
      .meta({ description: 'What the tenant says instead; null without an override' }),
    replacedValue: z.string().nullable().meta({
      description: 'What the platform said when the override was written; null where that is not known',
    }),
    hasDrifted: z.boolean().meta({ description: 'Whether the platform says something else since then' }),
  })
  .meta({ id: 'LocalizationTextValue' });

const LocalizationText = z
  .object({ resourceName: z.string(), key: z.string(), values: z.array(LocalizationTextValue) })
  .meta({ id: 'LocalizationText' });

export const LocalizationTexts = pagedResult(LocalizationText).meta({ id: 'LocalizationTexts' });

/** Which texts a list shows: all, those that the tenant overrides, or those whose original changed since. */
export const LocalizationTextSelection = z
  .enum(['all', 'overridden', 'drifted'])
  .meta({ id: 'LocalizationTextSelection' });

export const SaveLocalizationOverrideRequest = z
  .object({ value: TextValue })
  .meta({ id: 'SaveLocalizationOverrideRequest' });

/** What one item of a batch must obey; an item that does not fails alone. */
export const LocalizationOverrideRules = z.object({
  resourceName: ResourceName,
  cultureName: Culture,
  key: TextKey,
  value: TextValue,
});
