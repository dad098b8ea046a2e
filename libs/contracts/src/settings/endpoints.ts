import type { ListRules } from '@plinth/kernel/list-query';
import { z } from 'zod';
import { authenticated, endpoint, permission, type Access } from '../endpoint';
import { Id } from '../schemas';
import {
  ApiKey,
  ApiKeyPage,
  CreateApiKeyRequest,
  CreatedApiKey,
  EffectiveSettings,
  ManagedSettings,
  SettingDefinition,
  SettingHistory,
  SettingName,
  SettingScope,
  SettingsMap,
  SettingValueResponse,
  UpdateSettingsRequest,
  UpdateSettingsResult,
  UpdateSettingValueRequest,
} from './shapes';

const byScope = z.object({ scope: SettingScope });
const byName = byScope.extend({ name: SettingName });

const read: Access = {
  type: 'by-parameter',
  parameter: 'scope',
  accessByValue: {
    user: authenticated,
    tenant: permission('Settings.Tenant.Read'),
    global: permission('Settings.Global.Read', { hostOnly: true }),
  },
};

const manage: Access = {
  type: 'by-parameter',
  parameter: 'scope',
  accessByValue: {
    user: authenticated,
    tenant: permission('Settings.Tenant.Manage'),
    global: permission('Settings.Global.Manage', { hostOnly: true }),
  },
};

const historyList: ListRules = {
  filterable: { changedAt: { type: 'timestamp' }, changedBy: { type: 'string' } },
  sortable: ['changedAt'],
  defaultSort: '-changedAt',
  searchable: ['changedBy'],
  cursor: true,
};

const getSettings = endpoint({
  method: 'GET',
  path: '/settings/:scope',
  atRoot: 'alias',
  summary: 'Read the values of all visible settings, as seen at one scope',
  access: read,
  params: byScope,
  success: { status: 200, body: SettingsMap },
  cache: 'user-data',
  etag: true,
});

const getSetting = endpoint({
  method: 'GET',
  path: '/settings/:scope/:name',
  atRoot: 'alias',
  summary: 'Read the value of one setting, as seen at one scope',
  access: read,
  params: byName,
  success: { status: 200, body: SettingValueResponse },
  problems: ['setting-not-defined'],
  cache: 'user-data',
  etag: true,
});

const putSetting = endpoint({
  method: 'PUT',
  path: '/settings/:scope/:name',
  atRoot: 'alias',
  summary: 'Set one value at one scope; null clears it',
  access: manage,
  params: byName,
  body: UpdateSettingValueRequest,
  success: { status: 204 },
  problems: [
    'setting-not-defined',
    'setting-scope-not-allowed',
    'setting-locked',
    'setting-value-invalid',
    'stale-version',
    'quota-exceeded',
  ],
  etag: true,
  ifMatch: true,
});

const deleteSetting = endpoint({
  method: 'DELETE',
  path: '/settings/:scope/:name',
  atRoot: 'alias',
  summary: 'Clear one value at one scope, so that the next level of the cascade shows',
  access: manage,
  params: byName,
  success: { status: 204 },
  problems: ['setting-not-defined', 'setting-scope-not-allowed', 'setting-locked', 'stale-version'],
  ifMatch: true,
});

const putSettings = endpoint({
  method: 'PUT',
  path: '/settings/:scope',
  atRoot: 'alias',
  summary: 'Set many values at one scope; each succeeds or fails by itself',
  access: manage,
  params: byScope,
  body: UpdateSettingsRequest,
  success: { status: 207, body: UpdateSettingsResult },
});

const getEffectiveSettings = endpoint({
  method: 'GET',
  path: '/settings/effective',
  atRoot: 'alias',
  summary: 'Read what applies to the caller, where it comes from, and what it overrides',
  access: authenticated,
  success: { status: 200, body: EffectiveSettings },
  cache: 'user-data',
  etag: true,
});

const getManagedSettings = endpoint({
  method: 'GET',
  path: '/settings/:scope/effective',
  summary: 'Read what applies at one scope, where it comes from, what it overrides, and what is locked there',
  access: read,
  params: byScope,
  success: { status: 200, body: ManagedSettings },
  cache: 'user-data',
  etag: true,
});

const getSettingDefinitions = endpoint({
  method: 'GET',
  path: '/settings/definitions',
  atRoot: 'alias',
  summary: 'List the settings there are',
  access: authenticated,
  success: { status: 200, body: z.array(SettingDefinition) },
  cache: 'user-data',
  etag: true,
});

const getSettingHistory = endpoint({
  method: 'GET',
  path: '/settings/:scope/:name/history',
  atRoot: 'alias',
  summary: 'List who changed a setting at one scope, newest first',
  access: read,
  params: byName,
  list: historyList,
  success: { status: 200, body: SettingHistory },
  problems: ['setting-not-defined'],
  cache: 'list',
});

const lockSetting = endpoint({
  method: 'PUT',
  path: '/settings/:scope/:name/lock',
  atRoot: 'alias',
  summary: 'Hold a setting fast for everybody below this level',
  access: manage,
  params: byName,
  success: { status: 204 },
  problems: ['setting-not-defined', 'setting-scope-not-allowed', 'setting-locked'],
});

const unlockSetting = endpoint({
  method: 'DELETE',
  path: '/settings/:scope/:name/lock',
  atRoot: 'alias',
  summary: 'Let a setting be changed below this level again',
  access: manage,
  params: byName,
  success: { status: 204 },
  problems: ['setting-not-defined', 'setting-scope-not-allowed', 'setting-locked'],
});

const byId = z.object({ id: Id });
const manageApiKeys = permission('Platform.ApiKeys.Manage');

const getApiKeys = endpoint({
  method: 'GET',
  path: '/api-keys',
  summary: 'Read the API keys of the tenant, a page at a time',
  access: manageApiKeys,
  list: {
    filterable: {
      name: { type: 'string' },
      createdBy: { type: 'string' },
      createdAt: { type: 'timestamp' },
      expiresAt: { type: 'timestamp' },
    },
    sortable: ['name', 'createdAt', 'expiresAt'],
    defaultSort: '-createdAt',
    searchable: ['name', 'createdByName'],
    cursor: true,
  },
  success: { status: 200, body: ApiKeyPage },
  cache: 'list',
});

const postApiKey = endpoint({
  method: 'POST',
  path: '/api-keys',
  summary: 'Create an API key for a program; the response shows it once',
  description:
    'The key acts as the user who created it, in the tenant in which it was created, and has the permissions it names: only such as its creator has. Send it as `Authorization: Bearer plinth_…`.',
  access: manageApiKeys,
  body: CreateApiKeyRequest,
  success: { status: 201, body: CreatedApiKey },
  problems: ['api-key-permission-not-held', 'api-key-not-for-keys', 'api-key-shown-before', 'quota-exceeded'],
  showsSecret: true,
});

const getApiKey = endpoint({
  method: 'GET',
  path: '/api-keys/:id',
  summary: 'Read one API key, without the key itself',
  access: manageApiKeys,
  params: byId,
  success: { status: 200, body: ApiKey },
  problems: ['api-key-not-found'],
  cache: 'user-data',
});

const deleteApiKey = endpoint({
  method: 'DELETE',
  path: '/api-keys/:id',
  summary: 'Revoke an API key at once; it stays in the list',
  access: manageApiKeys,
  params: byId,
  success: { status: 204 },
  problems: ['api-key-not-found', 'api-key-not-for-keys', 'revocation-unconfirmed'],
  revokesApiKey: true,
});

/** The endpoints of the settings service. */
export const settingsEndpoints = {
  getSettings,
  getSetting,
  putSetting,
  deleteSetting,
  putSettings,
  getEffectiveSettings,
  getManagedSettings,
  getSettingDefinitions,
  getSettingHistory,
  lockSetting,
  unlockSetting,
  getApiKeys,
  postApiKey,
  getApiKey,
  deleteApiKey,
};
