import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Form } from 'react-aria-components/Form';
import type { SettingDefinition } from '../api/settings';
import { Button } from '../components/button';
import { Select } from '../components/select';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';
import { choicesOf, settingName, valueText } from './setting-text';

const SearchableSelect = lazy(async () => ({
  default: (await import('../components/searchable-select')).SearchableSelect,
}));

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
  const isCulture = definition.schema['format'] === 'culture';
  const cultures = isCulture ? texts.languages.map(({ cultureName }) => cultureName) : undefined;
  const choices = choicesOf(definition) ?? cultures;
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
  if (definition.schema['format'] === 'time-zone') return <TimeZone {...props} label={label} />;
  return <TypedValue {...props} label={label} />;
}

/** The list of time zones is loaded for those who want another one. */
function TimeZone({ definition, value, onChange, label }: SettingEditorProps & { label: string }) {
  const texts = useTexts();
  const [isChoosing, setChoosing] = useState(false);
  const current = valueText(texts, definition, value);
  const choose = (
    <AriaButton
      className="select-button"
      aria-label={`${label}: ${current}`}
      onPress={() => setChoosing(true)}
    >
      <span className="select-value">{current}</span>
      <ChevronsUpDown aria-hidden />
    </AriaButton>
  );
  if (!isChoosing) return <div className="field">{choose}</div>;
  return (
    <Suspense fallback={<div className="field">{choose}</div>}>
      <SearchableSelect
        autoFocus
        label={label}
        placeholder={texts.t('Console.settings.noValue')}
        options={Intl.supportedValuesOf('timeZone').map((id) => ({
          id,
          label: valueText(texts, definition, id),
        }))}
        value={value}
        onChange={onChange}
      />
    </Suspense>
  );
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
