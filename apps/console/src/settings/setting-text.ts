import type { SettingDefinition } from '../api/settings';
import type { Texts } from '../texts/texts';

/** The name of a setting; one that a team defined without texts is called by its technical name. */
export const settingName = ({ find }: Texts, name: string): string => find(`Settings.names.${name}`) ?? name;

export const settingDescription = ({ find }: Texts, { name, description }: SettingDefinition): string =>
  find(`Settings.descriptions.${name}`) ?? description;

/** The values that a setting can take, where they are few. */
export function choicesOf({ schema }: SettingDefinition): string[] | undefined {
  if (schema['type'] === 'boolean') return ['true', 'false'];
  const values = schema['enum'];
  return Array.isArray(values) ? values.map(String) : undefined;
}

/** A value as people read it. */
export function valueText(texts: Texts, definition: SettingDefinition, value: string | null): string {
  const { t, find } = texts;
  if (value === null) return t('Console.settings.noValue');
  if (definition.isSecret) return t('Settings.messages.secret');
  if (choicesOf(definition)) {
    const own = find(`Console.settings.values.${definition.name}.${value}`);
    return own ?? find(`Platform.boolean.${value}`) ?? value;
  }
  if (definition.schema['format'] === 'culture')
    return texts.languages.find(({ cultureName }) => cultureName === value)?.displayName ?? value;
  if (definition.schema['format'] === 'time-zone') return value.replaceAll('_', ' ');
  return value;
}
