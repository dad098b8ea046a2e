import { Undo2 } from 'lucide-react';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import type { TextFilter, TextRow } from '../api/localization';
import { withChanges, type TextChange } from '../api/text-changes';
import { Button } from '../components/button';
import { Checkbox } from '../components/choices';
import { Page } from '../components/page';
import { Select } from '../components/select';
import { Callout, Failure } from '../components/state';
import { TextField } from '../components/text-field';
import { useStoredState } from '../components/stored-state';
import { useTexts } from '../texts/texts';
import { BatchEditor } from './batch-editor';
import { TextEditor } from './text-editor';
import { rowName, TextGrid } from './text-grid';
import { useTextEdits } from './use-text-edits';

const selections = ['all', 'overridden', 'drifted'] as const;

/** Every text of the platform and of the tenant, in all languages at once. */
export function LocalizationPage() {
  const { t, languages } = useTexts();
  const [search, setSearch] = useState('');
  const [show, setShow] = useState<TextFilter['show']>('all');
  const [hidden, setHidden] = useStoredState<string[]>('hidden-cultures', []);
  const [selected, setSelected] = useState<ReadonlyMap<string, TextRow>>(new Map());
  const [edited, setEdited] = useState<{ row: TextRow; cultureName: string }>();
  const grid = useRef<HTMLDivElement>(null);
  const close = () => {
    setEdited(undefined);
    grid.current?.focus({ preventScroll: true });
  };
  const giveUpSelection = () => {
    setSelected(new Map());
    grid.current?.focus({ preventScroll: true });
  };
  const updateSelected = (texts: readonly TextChange[]) =>
    setSelected((all) => new Map([...all].map(([name, row]) => [name, withChanges(row, texts)])));
  const edits = useTextEdits({
    // What this page has changed meanwhile is not what somebody else did: the rows follow it.
    onShown: (texts) => {
      updateSelected(texts);
      setEdited((one) => one && { ...one, row: withChanges(one.row, texts) });
    },
    // Who edits a text does not see in the editor what others wrote, and does not mean to write over it.
    onRead: updateSelected,
  });
  const { apply, undo, retry, undoCount, isPending, failure, refused } = edits;
  const filter = useDeferredValue({ search: search.trim(), resourceName: '', show });
  const cultures = useMemo(() => {
    const shown = languages.filter(({ cultureName }) => !hidden.includes(cultureName));
    return shown.length > 0 ? shown : languages.slice(0, 1);
  }, [languages, hidden]);

  const beforeOf = (
    rows: readonly TextRow[],
    { resourceName, key, cultureName }: TextChange,
  ): TextChange => ({
    resourceName,
    key,
    cultureName,
    value:
      rows
        .find((row) => row.resourceName === resourceName && row.key === key)
        ?.values.find((cell) => cell.cultureName === cultureName)?.value ?? null,
  });
  const applyTo = (rows: readonly TextRow[], changes: TextChange[]) =>
    apply({ changes, before: changes.map((one) => beforeOf(rows, one)) });
  const select = (rows: readonly TextRow[], isSelected: boolean) =>
    setSelected((before) => {
      const next = new Map(before);
      for (const row of rows) {
        if (isSelected) next.set(rowName(row), row);
        else next.delete(rowName(row));
      }
      return next;
    });

  return (
    <Page
      isWide
      title={t('Platform.areas.localization')}
      lead={t('Console.localization.lead')}
      actions={
        undoCount > 0 && (
          <Button isPending={isPending} onPress={undo}>
            <Undo2 aria-hidden />
            {t('Console.localization.undo', { count: undoCount })}
          </Button>
        )
      }
    >
      <div className="row text-filters">
        <TextField
          hidesLabel
          label={t('Console.localization.search')}
          placeholder={t('Console.localization.search')}
          value={search}
          onChange={setSearch}
        />
        <Select
          hidesLabel
          label={t('Console.localization.shown')}
          options={selections.map((id) => ({ id, label: t(`Console.localization.show.${id}`) }))}
          value={show}
          onChange={(id) => setShow(id as TextFilter['show'])}
        />
        <div className="row" role="group" aria-label={t('Localization.fields.cultureName')}>
          {languages.map(({ cultureName, displayName }) => (
            <Checkbox
              key={cultureName}
              isSelected={!hidden.includes(cultureName)}
              onChange={(isShown) =>
                setHidden(isShown ? hidden.filter((name) => name !== cultureName) : [...hidden, cultureName])
              }
            >
              {displayName}
            </Checkbox>
          ))}
        </div>
      </div>
      {failure && <Failure error={failure} onRetry={retry} />}
      {edits.overtaken.length > 0 && <Overtaken {...edits} />}
      {refused.length > 0 && (
        <Callout tone="bad" title={t('Console.localization.refused', { count: refused.length })}>
          {refused.slice(0, 5).join(' ')}
        </Callout>
      )}
      {selected.size > 0 && (
        <BatchEditor
          rows={[...selected.values()]}
          onApply={(changes) => {
            applyTo([...selected.values()], changes);
            giveUpSelection();
          }}
          onClose={giveUpSelection}
        />
      )}
      {edited && (
        <TextEditor
          key={`${rowName(edited.row)} ${edited.cultureName}`}
          row={edited.row}
          cultureName={edited.cultureName}
          language={
            languages.find(({ cultureName }) => cultureName === edited.cultureName)?.displayName ??
            edited.cultureName
          }
          onClose={close}
          onSave={(value) => {
            const { resourceName, key } = edited.row;
            applyTo([edited.row], [{ resourceName, key, cultureName: edited.cultureName, value }]);
            close();
          }}
        />
      )}
      <TextGrid
        ref={grid}
        filter={filter}
        cultures={cultures}
        selected={selected}
        onSelect={select}
        onEdit={(row, cultureName) => setEdited({ row, cultureName })}
        onUndo={undo}
      />
    </Page>
  );
}

const OVERTAKEN_SHOWN = 5;

/** Says which texts somebody else wrote meanwhile, and leaves the choice to this person. */
function Overtaken({
  overtaken,
  writeAnyway,
  leaveTheirs,
}: Pick<ReturnType<typeof useTextEdits>, 'overtaken' | 'writeAnyway' | 'leaveTheirs'>) {
  const { t } = useTexts();
  return (
    <div role="alert">
      <Callout tone="warn" title={t('Console.localization.overtaken', { count: overtaken.length })}>
        <div className="stack tight">
          <span>{t('Console.localization.overtakenHelp', { count: overtaken.length })}</span>
          <ul className="plain">
            {overtaken.slice(0, OVERTAKEN_SHOWN).map(({ resourceName, key, cultureName, value }) => (
              <li key={`${resourceName} ${key} ${cultureName}`}>
                {key} ·{' '}
                {value === null
                  ? t('Console.localization.yoursTakenAway')
                  : t('Console.localization.yours', { text: value })}
              </li>
            ))}
            {overtaken.length > OVERTAKEN_SHOWN && (
              <li>
                {t('Console.localization.moreOvertaken', { count: overtaken.length - OVERTAKEN_SHOWN })}
              </li>
            )}
          </ul>
          <div className="row">
            <Button onPress={leaveTheirs}>{t('Console.localization.leaveTheirs')}</Button>
            <Button look="danger" onPress={writeAnyway}>
              {t('Console.localization.writeAnyway', { count: overtaken.length })}
            </Button>
          </div>
        </div>
      </Callout>
    </div>
  );
}
