import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useFilter } from 'react-aria-components/Autocomplete';
import { peopleQuery, suggestionsQuery, type Suggestion } from '../api/timeline';
import { IconButton } from '../components/icon-button';
import { Select } from '../components/select';
import { mayDo, useCaller } from '../shell/caller';
import { useTexts } from '../texts/texts';

interface PeoplePickerProps {
  label: string;
  /** Ids of those who are chosen. */
  value: readonly string[];
  onChange: (ids: string[]) => void;
}

/** People, found by their names; somebody whom the platform has not seen yet is chosen by id. */
export function PeoplePicker({ label, value, onChange }: PeoplePickerProps) {
  const { t } = useTexts();
  const mayRead = mayDo(useCaller(), 'Timeline.Entries.Read');
  const [search, setSearch] = useState('');
  const [before] = useState(value);
  const [added, setAdded] = useState<readonly Suggestion[]>([]);
  const { data: known = [], isLoading } = useQuery({ ...peopleQuery(before), enabled: mayRead });
  const typed = search.trim();
  const { data: found = [], isFetching } = useQuery({
    ...suggestionsQuery(typed),
    enabled: mayRead,
    placeholderData: keepPreviousData,
  });
  const isId = /^\S+$/.test(typed) && !found.some(({ id }) => id === typed);
  // What was found before is narrowed at once, so that what is about to be chosen does not go away under the keys.
  const { contains } = useFilter({ sensitivity: 'base' });
  const fitting = found.filter(({ id, displayName }) => contains(displayName, typed) || contains(id, typed));
  const people = [...fitting, ...(isId ? [{ id: typed, displayName: '' }] : [])];
  const nameOf = (id: string) => [...added, ...known].find((person) => person.id === id)?.displayName || id;
  const add = (id: string) => {
    setAdded((former) => [...people.filter((person) => person.id === id), ...former]);
    setSearch('');
    onChange([...value, id]);
  };
  return (
    <div className="stack tight">
      <Select
        label={label}
        description={t('Console.workflows.peopleHelp')}
        placeholder={t('Console.workflows.addPerson')}
        options={people
          .filter(({ id }) => !value.includes(id))
          .map(({ id, displayName }) => ({
            id,
            label: displayName || t('Console.workflows.personWithId', { id }),
            description: displayName ? id : undefined,
          }))}
        value={null}
        onChange={add}
        search={{ text: search, onChange: setSearch, isSearching: isFetching }}
      />
      {value.length > 0 && (
        <ul className="chips people" aria-label={label} aria-busy={isLoading}>
          {value.map((id) => (
            <li key={id} className="badge">
              <span className="truncate">{nameOf(id)}</span>
              <IconButton
                label={t('Console.workflows.removePerson', { name: nameOf(id) })}
                onPress={() => onChange(value.filter((one) => one !== id))}
              >
                <X aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
