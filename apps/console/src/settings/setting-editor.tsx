import type { SettingDefinition } from '../api/settings';
import { Later } from '../components/later';
import { lazyPart } from '../components/lazy-part';
import { Select } from '../components/select';
import { useTexts, type Texts } from '../texts/texts';
import { choicesOf, settingName, valueText } from './setting-text';

/** The settings that people open most have none. */
const TypedValue = lazyPart(
  () => import('./typed-value'),
  ({ TypedValue }) => TypedValue,
);

export interface SettingEditorProps {
  definition: SettingDefinition;
  value: string | null;
  isDisabled: boolean;
  /** Shows the value at once. */
  onChange: (value: string) => void;
  /** Shows the value once the platform accepts it. */
  onSave: (value: string) => Promise<unknown>;
}

/** The control that fits the values of a setting. Choosing saves at once; what is typed is saved by a button. */
export function SettingEditor(props: SettingEditorProps) {
  const texts = useTexts();
  const { definition, value, isDisabled, onChange } = props;
  const label = settingName(texts, definition.name);
  const choices = choicesOf(definition) ?? valuesOfFormat(texts, definition.schema['format']);
  const optionOf = (id: string) => ({ id, label: valueText(texts, definition, id) });
  if (isDisabled) return <p className="setting-value">{valueText(texts, definition, value)}</p>;
  if (choices) {
    const known = value === null || choices.includes(value) ? choices : [value, ...choices];
    return (
      <Select
        hidesLabel
        label={label}
        placeholder={texts.t('Console.settings.noValue')}
        options={known.map(optionOf)}
        value={value}
        onChange={onChange}
      />
    );
  }
  return (
    <Later place={<div className="skeleton" style={{ height: '2.4rem' }} aria-hidden />}>
      <TypedValue {...props} label={label} />
    </Later>
  );
}

function valuesOfFormat({ languages }: Texts, format: unknown): string[] | undefined {
  if (format === 'culture') return languages.map(({ cultureName }) => cultureName);
  if (format === 'time-zone') return Intl.supportedValuesOf('timeZone');
  return undefined;
}
