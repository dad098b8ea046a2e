import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import { UpdateSettingRules, type SettingScope } from '@plinth/contracts/settings/shapes';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { noContent, ok } from '@plinth/http/response';
import { parseInput } from '@plinth/kernel/validation';
import { recordBatch } from '@plinth/runtime/postgres/run-once';
import type { Caller } from '@plinth/kernel/caller';
import type { IfMatch } from '@plinth/kernel/entity-tag';
import type { Deps } from '../compose';
import { requireShownDefinition } from '../domain/definitions';
import { visibleValue } from '../domain/visible-value';

const {
  getSettings,
  getSetting,
  putSetting,
  deleteSetting,
  putSettings,
  getEffectiveSettings,
  getManagedSettings,
} = settingsEndpoints;

export function mountSettings(
  api: Api,
  {
    definitions,
    settings,
    reader,
    batchItems,
    db,
  }: Pick<Deps, 'definitions' | 'settings' | 'reader' | 'batchItems' | 'db'>,
): void {
  const write = async (
    caller: Caller,
    scope: SettingScope,
    name: string,
    value: string | null,
    ifMatch?: IfMatch,
  ) => {
    const definition = requireShownDefinition(await definitions.all(), name, scope);
    await settings.change(caller, scope, definition, { type: 'write', value, ifMatch });
    return { name, value: visibleValue(definition, value) };
  };

  api.on(getSettings, async ({ params: { scope }, caller }) => {
    const visible = await reader.visibleSettings(caller, scope);
    return Object.fromEntries([...visible].map(([name, { value }]) => [name, value]));
  });

  api.on(getSetting, async ({ params: { scope, name }, caller }) => {
    const { value, etag } = await reader.visibleSetting(caller, scope, name);
    return ok({ name, value }, { etag });
  });

  api.on(putSetting, async ({ params: { scope, name }, body, caller, ifMatch }) => {
    await write(caller, scope, name, body.value, ifMatch);
    return noContent();
  });

  api.on(deleteSetting, async ({ params: { scope, name }, caller, ifMatch }) => {
    await write(caller, scope, name, null, ifMatch);
    return noContent();
  });

  api.on(putSettings, async ({ params: { scope }, body, caller }) => {
    await recordBatch(db, caller);
    const timesWritten = new Map<string, number>();
    return batchResultOf(
      body.items,
      (item) => {
        const { name, value } = parseInput(UpdateSettingRules, item, 'body');
        const times = timesWritten.get(name) ?? 0;
        timesWritten.set(name, times + 1);
        // The setting is part of the operation's id anyway. Of several items about one, the last one counts.
        const operationId =
          caller.operationId && times > 0 ? `${caller.operationId}#${times}` : caller.operationId;
        return write({ ...caller, operationId }, scope, name, value);
      },
      { placesFor: () => batchItems, owner: caller },
    );
  });

  api.on(getEffectiveSettings, async ({ caller }) =>
    Object.fromEntries(await reader.visibleSettings(caller, 'user')),
  );

  api.on(getManagedSettings, async ({ params: { scope }, caller }) =>
    Object.fromEntries(await reader.managedSettings(caller, scope)),
  );
}
