import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent } from 'react';
import type { TextRow } from '../api/localization';
import { Button } from '../components/button';
import { Callout } from '../components/state';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';

interface TextEditorProps {
  row: TextRow;
  cultureName: string;
  language: string;
  onSave: (value: string | null) => void;
  onClose: () => void;
}

/** One text in one culture, beside what the platform says, checked while it is typed. */
export function TextEditor({ row, cultureName, language, onSave, onClose }: TextEditorProps) {
  const { t } = useTexts();
  const cell = row.values.find((one) => one.cultureName === cultureName)!;
  const { platformValue, value, replacedValue, hasDrifted } = cell;
  const [text, setText] = useState(value ?? platformValue ?? '');
  // The reader of messages is loaded for those who write one.
  const { data: checker } = useQuery({
    queryKey: ['check-text'],
    queryFn: () => import('./check-text'),
    staleTime: Infinity,
  });
  const check = checker?.checkText(platformValue, text);
  const list = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ');
  const mayBeSaved = check !== undefined && !check.difference && text !== value;
  const save = () => mayBeSaved && onSave(text);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
  };
  return (
    <section className="panel padded stack text-editor" aria-labelledby="text-editor" onKeyDown={onKeyDown}>
      <div className="row spread">
        <h2 id="text-editor">
          {row.key} · {language}
        </h2>
        <span className="soft small">{row.resourceName}</span>
      </div>
      {platformValue !== null && (
        <div className="stack tight">
          <h3>{t('Localization.overrides.original')}</h3>
          <p className="source">{platformValue}</p>
        </div>
      )}
      {hasDrifted && (
        <Callout tone="warn" title={t('Console.localization.drifted')}>
          {t('Console.localization.driftedFrom', { text: replacedValue ?? '' })}
        </Callout>
      )}
      <TextField
        autoFocus
        isMultiline
        label={t('Localization.fields.value')}
        description={t('Console.localization.keys')}
        value={text}
        onChange={setText}
      />
      <div role="status" className="stack tight">
        {check?.difference && check.difference.missing.length > 0 && (
          <p className="problem">
            {t('Localization.overrides.placeholdersMissing', { 0: list(check.difference.missing) })}
          </p>
        )}
        {check?.difference && check.difference.unexpected.length > 0 && (
          <p className="problem">
            {t('Localization.overrides.placeholdersUnexpected', { 0: list(check.difference.unexpected) })}
          </p>
        )}
        {check?.isNoMessage && <p className="problem">{t('Console.localization.noMessage')}</p>}
      </div>
      <div className="row">
        <Button look="primary" isDisabled={!mayBeSaved} onPress={save}>
          {t('Platform.actions.save')}
        </Button>
        {value !== null && (
          <Button onPress={() => onSave(null)}>
            {t(platformValue === null ? 'Platform.actions.delete' : 'Localization.overrides.reset')}
          </Button>
        )}
        <Button look="quiet" onPress={onClose}>
          {t('Platform.actions.cancel')}
        </Button>
      </div>
    </section>
  );
}
