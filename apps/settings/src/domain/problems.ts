import { platformProblems, quotaExceeded } from '@plinth/contracts/platform/problems';
import { settingsProblems } from '@plinth/contracts/settings/problems';
import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { invalid, validationCode, type ValidationRule } from '@plinth/kernel/problem';

export const settingNotDefined = (name: string) =>
  settingsProblems['setting-not-defined'](`There is no setting "${name}".`);

export const scopeNotAllowed = (name: string, scope: SettingScope) =>
  settingsProblems['setting-scope-not-allowed'](`The setting "${name}" cannot be set at ${scope} scope.`);

export const settingLocked = (name: string, scope: SettingScope) =>
  settingsProblems['setting-locked'](`The setting "${name}" is locked at ${scope} level.`);

export const valueInvalid = (name: string, rules: ValidationRule[], reason: string) =>
  settingsProblems['setting-value-invalid'](`The value does not fit the setting "${name}": ${reason}.`, {
    errors: { value: [...new Set(rules)].map(validationCode) },
  });

export const schemaInvalid = (name: string, reason: string) =>
  invalid({ schema: 'Format' }, `The schema of "${name}" is not a valid JSON Schema: ${reason}`);

export const apiKeyNotFound = (id: string) =>
  settingsProblems['api-key-not-found'](`There is no API key ${id}.`);

export const permissionsNotHeld = (permissions: readonly string[]) =>
  settingsProblems['api-key-permission-not-held'](`You do not have ${permissions.join(', ')} yourself.`);

export const apiKeyNotForKeys = () =>
  platformProblems['api-key-not-for-keys']('An API key cannot create or revoke API keys.');

export const apiKeyShownBefore = (id: string) =>
  settingsProblems['api-key-shown-before'](`The API key ${id} was created and shown by an earlier request.`);

const QUOTA_RETRY_SECONDS = 3_600;

export const tooManyApiKeys = (limit: number, used: number) =>
  quotaExceeded({
    quota: 'api-keys',
    what: 'API keys in use',
    limit,
    used,
    retryAfterSeconds: QUOTA_RETRY_SECONDS,
  });
