import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/http/api';
import type { Deps } from '../compose';
import { requireShownDefinition } from '../domain/definitions';
import { levelOf } from '../domain/level';
import { cursorKeyOf, toSettingChange } from './history-response';

const { getSettingHistory } = settingsEndpoints;

export function mountHistory(
  api: Api,
  { definitions, settings }: Pick<Deps, 'definitions' | 'settings'>,
): void {
  api.on(getSettingHistory, async ({ params: { scope, name }, list, caller }) => {
    requireShownDefinition(await definitions.all(), name, scope);
    const { rows, totalCount } = await settings.history(levelOf(caller, scope), name, list);
    return list.toPage(rows, totalCount, toSettingChange, cursorKeyOf);
  });
}
