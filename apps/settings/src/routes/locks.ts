import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/conventions/api';
import { noContent } from '@plinth/conventions/reply';
import type { Deps } from '../compose';
import { settingNotDefined } from '../domain/problems';

export function mountLocks(
  api: Api,
  { definitions, settings }: Pick<Deps, 'definitions' | 'settings'>,
): void {
  const definitionOf = async (name: string) => {
    const definition = (await definitions.all()).get(name);
    if (!definition) throw settingNotDefined(name);
    return definition;
  };

  api.on(settingsEndpoints.lockSetting, async ({ params: { scope, name }, caller }) => {
    await settings.lock(caller, scope, await definitionOf(name));
    return noContent();
  });

  api.on(settingsEndpoints.unlockSetting, async ({ params: { scope, name }, caller }) => {
    await settings.unlock(caller, scope, await definitionOf(name));
    return noContent();
  });
}
