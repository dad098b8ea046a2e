import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Api } from '@plinth/http/api';
import { noContent } from '@plinth/http/response';
import type { Deps } from '../compose';
import { requireDefinition } from '../domain/definitions';

const { lockSetting, unlockSetting } = settingsEndpoints;

export function mountLocks(
  api: Api,
  { definitions, settings }: Pick<Deps, 'definitions' | 'settings'>,
): void {
  api.on(lockSetting, async ({ params: { scope, name }, caller }) => {
    const definition = requireDefinition(await definitions.all(), name);
    await settings.change(caller, scope, definition, { type: 'lock' });
    return noContent();
  });

  api.on(unlockSetting, async ({ params: { scope, name }, caller }) => {
    const definition = requireDefinition(await definitions.all(), name);
    await settings.change(caller, scope, definition, { type: 'unlock' });
    return noContent();
  });
}
