import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/http/api';
import { holds } from '@plinth/kernel/caller';
import type { Deps } from '../compose';

const { getSettingDefinitions } = settingsEndpoints;

export function mountDefinitions(api: Api, { definitions }: Pick<Deps, 'definitions'>): void {
  api.on(getSettingDefinitions, async ({ caller }) => {
    const administers = holds(caller, 'Settings.Tenant.Read') || holds(caller, 'Settings.Global.Read');
    return [...(await definitions.all()).values()].filter(
      ({ isVisibleToUsers }) => administers || isVisibleToUsers,
    );
  });
}
