import { batchOf, batchResult } from '@plinth/kernel/batch-result';
import { z } from 'zod';
import { endpoint, optional, permission } from '../endpoint';
import { commaSeparated, Culture, CULTURE_IN_LIST_PATTERN } from '../schemas';
import {
  LocalizationBootstrap,
  LocalizationOverride,
  LocalizationTexts,
  LocalizationTextSelection,
  ResourceName,
  RemoveLocalizationOverride,
  ResourceTexts,
  SaveLocalizationOverride,
  SaveLocalizationOverrideRequest,
  TextKey,
} from './shapes';

const manage = permission('Localization.Overrides.Manage');
const byKey = z.object({ resourceName: ResourceName, cultureName: Culture, key: TextKey });

const CULTURES_MAX = 8;
const RESOURCES_MAX = 50;

export const getLocalization = endpoint({
  method: 'GET',
  path: '/localization',
  summary: 'Read the texts of one culture, and the languages to choose from',
  description:
    'Without `cultureName` the preferred culture of the caller decides, then `Accept-Language`, then `en`. ' +
    'Texts that a culture lacks come from its parents and then from `en`: `fr-CA`, `fr`, `en`. ' +
    'Of more than 100,000 own texts, or 4,000,000 characters of them, the first by resource and key are there, and the header ' +
    '`X-Localization-Incomplete: true`.',
  access: optional,
  query: z.object({
    cultureName: Culture.optional(),
    tenant: z.string().min(1).max(200).optional().meta({ description: 'Id or short name of a tenant' }),
    resourceNames: commaSeparated(ResourceName, RESOURCES_MAX)
      .optional()
      .meta({ description: 'Separated by commas; without it all that the tenant has' }),
  }),
  success: { status: 200, body: LocalizationBootstrap },
  cache: 'reference',
  etag: true,
  atRoot: true,
});

export const listLocalizationTexts = endpoint({
  method: 'GET',
  path: '/localization/texts',
  summary: 'List texts in several cultures: what the platform says, and what the tenant says instead',
  access: manage,
  query: z.object({
    cultures: commaSeparated(Culture, CULTURES_MAX, CULTURE_IN_LIST_PATTERN)
      .optional()
      .meta({ description: 'Separated by commas; without it those of the platform' }),
    resourceName: ResourceName.optional(),
    show: LocalizationTextSelection.default('all'),
  }),
  list: {
    filterable: {},
    sortable: ['resourceName'],
    defaultSort: 'resourceName',
    searchable: ['key', 'value'],
  },
  success: { status: 200, body: LocalizationTexts },
  problems: ['override-store-missing'],
  cache: 'list',
  atRoot: true,
});

export const listLocalizationOverrides = endpoint({
  method: 'GET',
  path: '/localization/overrides',
  summary: "Read the tenant's overrides of one resource and culture",
  access: manage,
  query: z.object({ resourceName: ResourceName, cultureName: Culture }),
  success: { status: 200, body: ResourceTexts },
  problems: ['override-store-missing'],
  cache: 'user-data',
  etag: true,
  atRoot: true,
});

export const putLocalizationOverrides = endpoint({
  method: 'PUT',
  path: '/localization/overrides',
  summary: 'Create or update many overrides; each one succeeds or fails alone',
  description:
    'One with a `formerValue` that is not its value any longer fails with the status 409, unless it has the new value already.',
  access: manage,
  body: batchOf(SaveLocalizationOverride).meta({ id: 'SaveLocalizationOverridesRequest' }),
  success: { status: 207, body: batchResult(LocalizationOverride) },
  problems: ['override-store-missing', 'quota-exceeded'],
  atRoot: true,
});

export const removeLocalizationOverrides = endpoint({
  method: 'POST',
  path: '/localization/overrides/removals',
  summary: 'Remove many overrides, all or none; one that is absent is no error',
  description:
    'None is removed where one with a `formerValue` has another value by now; `staleItems` of the problem has the places of such items, from 0.',
  access: manage,
  body: batchOf(RemoveLocalizationOverride).meta({ id: 'RemoveLocalizationOverridesRequest' }),
  success: { status: 204 },
  problems: ['override-store-missing', 'stale-version'],
  atRoot: true,
});

export const getLocalizationOverride = endpoint({
  method: 'GET',
  path: '/localization/overrides/:resourceName/:cultureName/:key',
  summary: 'Read one override and its entity tag',
  access: manage,
  params: byKey,
  success: { status: 200, body: LocalizationOverride },
  problems: ['override-not-found', 'override-store-missing'],
  cache: 'user-data',
  etag: true,
  atRoot: true,
});

export const putLocalizationOverride = endpoint({
  method: 'PUT',
  path: '/localization/overrides/:resourceName/:cultureName/:key',
  summary: 'Create or update one override',
  description: 'Placeholders such as `{0}` or `{name}` must be those of the text that is overridden.',
  access: manage,
  params: byKey,
  body: SaveLocalizationOverrideRequest,
  success: { status: 204 },
  problems: ['override-store-missing', 'stale-version', 'quota-exceeded'],
  etag: true,
  ifMatch: true,
  ifNoneMatch: true,
  atRoot: true,
});

export const deleteLocalizationOverride = endpoint({
  method: 'DELETE',
  path: '/localization/overrides/:resourceName/:cultureName/:key',
  summary: 'Remove one override, so that the text of the platform is seen again',
  access: manage,
  params: byKey,
  success: { status: 204 },
  problems: ['override-store-missing', 'stale-version'],
  ifMatch: true,
  atRoot: true,
});

export const localizationEndpoints = {
  getLocalization,
  listLocalizationTexts,
  listLocalizationOverrides,
  putLocalizationOverrides,
  removeLocalizationOverrides,
  getLocalizationOverride,
  putLocalizationOverride,
  deleteLocalizationOverride,
};
