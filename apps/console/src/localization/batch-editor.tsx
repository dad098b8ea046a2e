import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TextRow } from '../api/localization';
import type { TextChange } from '../api/text-changes';
import { Button } from '../components/button';
import { Select } from '../components/select';
import { Announced } from '../components/state';
import { TextField } from '../components/text-field';
import { useTexts } from '../texts/texts';

interface BatchEditorProps {
  rows: readonly TextRow[];
  onApply: (changes: TextChange[]) => void;
  onClose: () => void;
}

/** Replaces a piece of text in all selected rows, or takes their own words away. */
export function BatchEditor({ rows, onApply, onClose }: BatchEditorProps) {
  const { t, languages, culture } = useTexts();
  const [cultureName, setCultureName] = useState(culture);
  const [search, setSearch] = useState('');
  const [replacement, setReplacement] = useState('');
  const { data: checker } = useQuery({
    queryKey: ['check-text'],
    queryFn: () => import('./check-text'),
    staleTime: Infinity,
  });
  const cells = rows.flatMap(({ resourceName, key, values }) => {
    const cell = values.find((one) => one.cultureName === cultureName);
    return cell ? [{ resourceName, key, cell }] : [];
  });
  const replaced = cells
    .map(({ resourceName, key, cell }) => {
      const before = cell.value ?? cell.platformValue ?? '';
      const value = search === '' ? before : before.replaceAll(search, replacement);
      return { resourceName, key, cultureName, value, before, platformValue: cell.platformValue };
    })
    .filter(({ value, before }) => value !== before);
  const refused = replaced.filter(
    ({ value, platformValue }) => checker?.checkText(platformValue, value).difference,
  );
  const own = cells.filter(({ cell }) => cell.value !== null);
  // Without one, the text is gone then.
  const hasOriginals = own.every(({ cell }) => cell.platformValue !== null);
  const toChange = ({ resourceName, key, value }: (typeof replaced)[number]): TextChange => ({
    resourceName,
    key,
    cultureName,
    value,
  });
  return (
    <section className="panel padded stack" aria-labelledby="batch-editor">
      <h2 id="batch-editor">{t('Console.localization.batch', { count: rows.length })}</h2>
      <div className="row batch-fields">
        <Select
          label={t('Localization.fields.cultureName')}
          options={languages.map(({ cultureName: id, displayName: label }) => ({ id, label }))}
          value={cultureName}
          onChange={setCultureName}
        />
        <TextField label={t('Console.localization.find')} value={search} onChange={setSearch} />
        <TextField
          label={t('Console.localization.replaceBy')}
          value={replacement}
          onChange={setReplacement}
        />
      </div>
      <Announced>
        {refused.length > 0 && (
          <p className="problem">{t('Console.localization.breaks', { count: refused.length })}</p>
        )}
      </Announced>
      <div className="row">
        <Button
          look="primary"
          isDisabled={replaced.length === 0 || refused.length > 0}
          onPress={() => onApply(replaced.map(toChange))}
        >
          {t('Console.localization.replace', { count: replaced.length })}
        </Button>
        <Button
          isDisabled={own.length === 0}
          onPress={() =>
            onApply(own.map(({ resourceName, key }) => ({ resourceName, key, cultureName, value: null })))
          }
        >
          {t(hasOriginals ? 'Console.localization.resetMany' : 'Console.localization.takeAway', {
            count: own.length,
          })}
        </Button>
        <Button look="quiet" onPress={onClose}>
          {t('Console.localization.unselect')}
        </Button>
      </div>
    </section>
  );
}
