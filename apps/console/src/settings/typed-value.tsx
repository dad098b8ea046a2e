import { Button } from '../components/button';
import { Failure } from '../components/state';
import { Form, FormField, useContractForm } from '../forms/contract-form';
import { useTexts } from '../texts/texts';
import type { SettingEditorProps } from './setting-editor';

/** A value that is typed, and saved by a button. */
export function TypedValue({
  definition,
  value,
  onSave,
  label,
}: Pick<SettingEditorProps, 'definition' | 'value' | 'onSave'> & { label: string }) {
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
