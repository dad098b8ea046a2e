import type { SettingDefinition } from '../api/settings';
import { Button } from '../components/button';
import { Select } from '../components/select';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts, type Texts } from '../texts/texts';
import { choicesOf, settingName, valueText } from './setting-text';

interface SettingEditorProps {
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
  return <TypedValue {...props} label={label} />;
}

function valuesOfFormat({ languages }: Texts, format: unknown): string[] | undefined {
  if (format === 'culture') return languages.map(({ cultureName }) => cultureName);
  if (format === 'time-zone') return Intl.supportedValuesOf('timeZone');
  return undefined;
}

function TypedValue({ definition, value, onSave, label }: SettingEditorProps & { label: string }) {
  const { t } = useTexts();
  const { isSecret, schema } = definition;
  const before = isSecret ? '' : (value ?? '');
  const form = useContractForm({
    shape: 'setting',
    defaultValues: { value: before },
    send: async ({ value: typed }) => (typed === before ? undefined : onSave(typed)),
  });
  const type = String(schema['type'] ?? 'string');
  const isNumber = type === 'integer' || type === 'number';
  return (
    <Form form={form} className="row setting-form">
      <FormField
        form={form}
        name="value"
        hidesLabel
        label={label}
        placeholder={isSecret && value !== null ? t('Settings.messages.secret') : ''}
        isMultiline={type === 'object' || type === 'array'}
        {...(isSecret ? { type: 'password' as const, autoComplete: 'off' } : {})}
        {...(isNumber ? { inputMode: 'decimal' as const } : {})}
      />
      <Button type="submit" isPending={form.isPending}>
        {t('Platform.actions.save')}
      </Button>
      {form.failure && <Failure error={form.failure} />}
    </Form>
  );
}
