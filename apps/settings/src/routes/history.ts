import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { SettingChangeKind } from '@plinth/contracts/settings/shapes';
import type { Api } from '@plinth/conventions/api';
import type { z } from 'zod';
import type { Deps } from '../compose';
import { settingNotDefined } from '../domain/problems';
import { levelOf } from '../store/setting-store';

export function mountHistory(
  api: Api,
  { definitions, settings }: Pick<Deps, 'definitions' | 'settings'>,
): void {
  api.on(settingsEndpoints.getSettingHistory, async ({ params: { scope, name }, list, caller }) => {
    const definition = (await definitions.all()).get(name);
    if (!definition || (scope === 'user' && !definition.isVisibleToUsers)) throw settingNotDefined(name);
    const { rows, totalCount } = await settings.history(levelOf(caller, scope), name, list);
    return list.toPage(
      rows,
      totalCount,
      ({ id, kind, previousValue, newValue, changedAt, changedBy }) => ({
        id,
        name,
        scope,
        kind: kind as z.infer<typeof SettingChangeKind>,
        previousValue,
        newValue,
        changedAt,
        changedBy,
      }),
      ({ changedAt, id }) => [changedAt.toISOString(), id],
    );
  });
}
