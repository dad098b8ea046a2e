import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import type { SettingDefinition } from '../api/settings';
import { Button } from '../components/button';
import { Select } from '../components/select';
import { TextField } from '../components/text-field';
import { useTexts, type Texts } from '../texts/texts';
import { choicesOf, settingName, valueText } from './setting-text';

interface SettingEditorProps {
  definition: SettingDefinition;
  value: string | null;
  isDisabled: boolean;
  isPending: boolean;
  onChange: (value: string) => void;
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
  return <TypedValue {...props} label={label} />;
}

function valuesOfFormat({ languages }: Texts, format: unknown): string[] | undefined {
  if (format === 'culture') return languages.map(({ cultureName }) => cultureName);
  if (format === 'time-zone') return Intl.supportedValuesOf('timeZone');
  return undefined;
}

function TypedValue({
  definition,
  value,
  isPending,
  onChange,
  label,
}: SettingEditorProps & { label: string }) {
  const { t } = useTexts();
  const { isSecret, schema } = definition;
  const before = isSecret ? '' : (value ?? '');
  const [text, setText] = useState(before);
  const type = String(schema['type'] ?? 'string');
  const isNumber = type === 'integer' || type === 'number';
  return (
    <Form
      className="row setting-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== before) onChange(text);
      }}
    >
      <TextField
        hidesLabel
        label={label}
        placeholder={isSecret && value !== null ? t('Settings.messages.secret') : ''}
        value={text}
        onChange={setText}
        isMultiline={type === 'object' || type === 'array'}
        {...(isSecret ? { type: 'password' as const, autoComplete: 'off' } : {})}
        {...(isNumber ? { inputMode: 'decimal' as const } : {})}
      />
      <Button type="submit" isPending={isPending} isDisabled={text === before}>
        {t('Platform.actions.save')}
      </Button>
    </Form>
  );
}
