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
