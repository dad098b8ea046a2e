import type { SettingDefinition } from '../api/settings';
import type { Texts } from '../texts/texts';

/** The name of a setting; one that a team defined without texts is called by its technical name. */
export function settingName({ t, has }: Texts, name: string): string {
  const key = `Settings.names.${name}`;
  return has(key) ? t(key) : name;
}

export function settingDescription({ t, has }: Texts, { name, description }: SettingDefinition): string {
  const key = `Settings.descriptions.${name}`;
  return has(key) ? t(key) : description;
}

/** The values that a setting can take, where they are few. */
export function choicesOf({ schema }: SettingDefinition): string[] | undefined {
  if (schema['type'] === 'boolean') return ['true', 'false'];
  const values = schema['enum'];
  return Array.isArray(values) ? values.map(String) : undefined;
}

/** A value as people read it. */
export function valueText(texts: Texts, definition: SettingDefinition, value: string | null): string {
  const { t, has } = texts;
  if (value === null) return t('Console.settings.noValue');
  if (definition.isSecret) return t('Settings.messages.secret');
  if (choicesOf(definition)) {
    const named = [`Console.settings.values.${definition.name}.${value}`, `Platform.boolean.${value}`];
    const key = named.find(has);
    return key === undefined ? value : t(key);
  }
  if (definition.schema['format'] === 'culture')
    return texts.languages.find(({ cultureName }) => cultureName === value)?.displayName ?? value;
  if (definition.schema['format'] === 'time-zone') return value.replaceAll('_', ' ');
  return value;
}
