import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/http/api';
import { readPage } from '@plinth/http/read-page';
import type { Deps } from '../compose';
import { requireShownDefinition } from '../domain/definitions';
import { levelOf } from '../domain/level';
import { cursorKeyOf, toSettingChange } from './history-response';

const { getSettingHistory } = settingsEndpoints;

/** The former one and the new one. */
const VALUES_OF_CHANGE = 2;

export function mountHistory(
  api: Api,
  { definitions, settings, pageReads }: Pick<Deps, 'definitions' | 'settings' | 'pageReads'>,
): void {
  api.on(getSettingHistory, async ({ params: { scope, name }, list, caller, signal }) => {
    requireShownDefinition(await definitions.all(), name, scope);
    const read = () => settings.history(levelOf(caller, scope), name, list);
    const texts = { limit: list.limit, textsOfRow: VALUES_OF_CHANGE };
    const { rows, totalCount } = await readPage(pageReads, caller, texts, read, signal);
    return list.toPage(rows, totalCount, toSettingChange, cursorKeyOf);
  });
}
