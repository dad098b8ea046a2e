import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/conventions/api';
import type { Deps } from '../compose';

export function mountMentions(api: Api, { people }: Pick<Deps, 'people'>): void {
  api.on(timelineEndpoints.getMentionSuggestions, ({ query, caller }) =>
    people.suggest(caller.tenantId, query.search ?? ''),
  );
}
