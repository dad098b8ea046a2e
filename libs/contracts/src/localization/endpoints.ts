import { batchOf, batchResult } from '@plinth/kernel/batch-result';
import { z } from 'zod';
import { endpoint, optional, permission } from '../endpoint';
import { Culture } from '../schemas';
import {
  LocalizationBootstrap,
  LocalizationOverride,
  ResourceName,
  ResourceTexts,
  SaveLocalizationOverrideRequest,
  TextKey,
} from './shapes';

const manage = permission('Localization.Overrides.Manage');
const byKey = z.object({ resourceName: ResourceName, cultureName: Culture, key: TextKey });

export const getLocalization = endpoint({
  method: 'GET',
  path: '/localization',
  summary: 'Read all texts of one culture, and the languages to choose from',
  description:
    'Without `cultureName` the preferred culture of the caller decides, then `Accept-Language`, then `en`. ' +
    'Texts that a culture lacks come from its parents and then from `en`: `fr-CA`, `fr`, `en`.',
  access: optional,
  query: z.object({
    cultureName: Culture.optional(),
    tenant: z.string().min(1).max(200).optional().meta({ description: 'Id or short name of a tenant' }),
  }),
  success: { status: 200, body: LocalizationBootstrap },
  cache: 'reference',
  etag: true,
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
  access: manage,
  body: batchOf(LocalizationOverride).meta({ id: 'SaveLocalizationOverridesRequest' }),
  success: { status: 207, body: batchResult(LocalizationOverride) },
  problems: ['override-store-missing'],
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
  problems: ['override-store-missing', 'stale-version'],
  etag: true,
  ifMatch: true,
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
  listLocalizationOverrides,
  putLocalizationOverrides,
  getLocalizationOverride,
  putLocalizationOverride,
  deleteLocalizationOverride,
};
