import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { parseSearch } from '@plinth/kernel/list-query';
import type { Deps } from '../compose';

const { getMentionSuggestions, getPeople } = timelineEndpoints;

export function mountMentions(api: Api, { people }: Pick<Deps, 'people'>): void {
  api.on(getMentionSuggestions, ({ query, caller }) =>
    people.suggest(caller.tenantId, parseSearch(query.search) ?? ''),
  );

  api.on(getPeople, async ({ query, caller }) => {
    const names = await people.namesOf(caller.tenantId, query.ids);
    return query.ids.flatMap((id) => {
      const displayName = names.get(id);
      return displayName === undefined ? [] : [{ id, displayName }];
    });
  });
}
