import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilter } from 'react-aria-components/Autocomplete';
import { suggestionsQuery, type Suggestion } from '../api/timeline';
import { Select } from '../components/select';
import { useTexts } from '../texts/texts';

interface PersonSelectProps {
  label: string;
  value: Suggestion | undefined;
  /** The id of somebody who cannot be chosen. */
  leftOut: string;
  onChange: (person: Suggestion) => void;
}

/** One of the people whom the platform knows, found by name: an id that is mistyped would be nobody. */
export function PersonSelect({ label, value, leftOut, onChange }: PersonSelectProps) {
  const { t } = useTexts();
  const [search, setSearch] = useState('');
  const typed = search.trim();
  const { data = [], isFetching } = useQuery({
    ...suggestionsQuery(typed),
    placeholderData: keepPreviousData,
  });
  const { contains } = useFilter({ sensitivity: 'base' });
  const people = [...(value ? [value] : []), ...data.filter(({ id }) => id !== value?.id && id !== leftOut)];
  const found = people.filter(({ id, displayName }) => contains(displayName, typed) || contains(id, typed));
  return (
    <Select
      label={label}
      description={t('Console.approvals.delegation.whoHelp')}
      placeholder={t('Console.workflows.addPerson')}
      options={found.map(({ id, displayName }) => ({ id, label: displayName, description: id }))}
      value={value?.id ?? null}
      onChange={(id) => onChange(people.find((person) => person.id === id)!)}
      search={{ text: search, onChange: setSearch, isSearching: isFetching }}
    />
  );
}
