import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilter } from 'react-aria-components/Autocomplete';
import { suggestionsQuery, type Suggestion } from '../api/timeline';
import { Select } from '../components/select';
import { Failure } from '../components/state';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';

interface PersonSelectProps {
  label: string;
  value: Suggestion | undefined;
  /** The id of somebody who cannot be chosen. */
  leftOut: string;
  onChange: (person: Suggestion) => void;
}

/**
 * One of the people whom the platform knows, found by name: an id that is mistyped would be nobody. Whoever may not see
 * them writes an id.
 */
export function PersonSelect({ label, value, leftOut, onChange }: PersonSelectProps) {
  const { t } = useTexts();
  const mayRead = mayDo(useCaller(), 'Timeline.Entries.Read');
  const [search, setSearch] = useState('');
  const typed = search.trim();
  const {
    data = [],
    isFetching,
    error,
    refetch,
  } = useQuery({
    ...suggestionsQuery(typed),
    enabled: mayRead,
    placeholderData: keepPreviousData,
  });
  const { contains } = useFilter({ sensitivity: 'base' });
  const written = !mayRead && /^\S+$/.test(typed) ? [{ id: typed, displayName: '' }] : [];
  const others = [...data, ...written].filter(({ id }) => id !== value?.id && id !== leftOut);
  const people = [...(value ? [value] : []), ...others];
  const found = people.filter(({ id, displayName }) => contains(displayName, typed) || contains(id, typed));
  const optionOf = ({ id, displayName }: Suggestion) =>
    displayName
      ? { id, label: displayName, description: id }
      : { id, label: id === value?.id ? id : t('Console.workflows.personWithId', { id }) };
  return (
    <div className="stack tight">
      <Select
        label={label}
        description={t(
          mayRead ? 'Console.approvals.delegation.whoHelp' : 'Console.approvals.delegation.whoHelpById',
        )}
        placeholder={t('Console.workflows.addPerson')}
        options={found.map(optionOf)}
        value={value?.id ?? null}
        onChange={(id) => onChange(people.find((person) => person.id === id)!)}
        search={{ text: search, onChange: setSearch, isSearching: isFetching }}
      />
      {error && <Failure error={error} onRetry={refetch} />}
    </div>
  );
}
