import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { settingNotDefined } from './problems';

export type Definitions = ReadonlyMap<string, SettingDefinition>;

/** Users see the settings that are meant for them; the levels of a tenant and of the platform show all settings. */
export const isShownAt = (scope: SettingScope, { isVisibleToUsers }: SettingDefinition): boolean =>
  scope !== 'user' || isVisibleToUsers;

/** @throws Problem `setting-not-defined` */
export function requireDefinition(definitions: Definitions, name: string): SettingDefinition {
  const definition = definitions.get(name);
  if (!definition) throw settingNotDefined(name);
  return definition;
}

/** @throws Problem `setting-not-defined`, also where the setting is not shown at this scope. */
export function requireShownDefinition(
  definitions: Definitions,
  name: string,
  scope: SettingScope,
): SettingDefinition {
  const definition = requireDefinition(definitions, name);
  if (!isShownAt(scope, definition)) throw settingNotDefined(name);
  return definition;
}
