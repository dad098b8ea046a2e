import { PEOPLE_MAX } from '@plinth/contracts/timeline/shapes';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { peopleQuery } from '../api/timeline';
import { mayDo, useCaller } from '../shell/caller';

/** What people are called, by their ids; somebody whom the platform has not seen is called by the id. */
export function usePersonNames(ids: readonly string[]): (id: string) => string {
  const mayRead = mayDo(useCaller(), 'Timeline.Entries.Read');
  const known = [...new Set(ids)].sort().slice(0, PEOPLE_MAX);
  const { data: people = [], isLoading } = useQuery({
    ...peopleQuery(known),
    enabled: mayRead && known.length > 0,
    placeholderData: keepPreviousData,
  });
  return (id) => people.find((person) => person.id === id)?.displayName ?? (isLoading ? '…' : id);
}
