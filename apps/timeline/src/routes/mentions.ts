import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import type { Deps } from '../compose';

const { getMentionSuggestions } = timelineEndpoints;

export function mountMentions(api: Api, { people }: Pick<Deps, 'people'>): void {
  api.on(getMentionSuggestions, ({ query, caller }) => people.suggest(caller.tenantId, query.search ?? ''));
}
