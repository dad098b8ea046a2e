import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import {
  UpdateSettingRules,
  type SettingDefinition,
  type SettingScope,
} from '@plinth/contracts/settings/shapes';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { noContent, ok } from '@plinth/http/response';
import { Problem } from '@plinth/kernel/problem';
import { parseInput } from '@plinth/kernel/validation';
import { recordBatch } from '@plinth/runtime/postgres/run-once';
import type { Caller } from '@plinth/kernel/caller';
import type { Precondition } from '@plinth/kernel/entity-tag';
import type { Deps } from '../compose';
import { requireShownDefinition } from '../domain/definitions';
import { requireAllowed } from '../domain/setting-change';
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
    precondition?: Precondition,
  ) => {
    const definition = requireShownDefinition(await definitions.all(), name, scope);
    const { etag } = await settings.change(caller, scope, definition, { type: 'write', value, precondition });
    return { definition, etag };
  };

  api.on(getSettings, async ({ params: { scope }, caller }) => {
    const visible = await reader.visibleSettings(caller, scope);
    return Object.fromEntries([...visible].map(([name, { value }]) => [name, value]));
  });

  api.on(getSetting, async ({ params: { scope, name }, caller }) => {
    const { value, etag } = await reader.visibleSetting(caller, scope, name);
    return ok({ name, value }, { etag });
  });

  api.on(putSetting, async ({ params: { scope, name }, body, caller, precondition }) => {
    const { etag } = await write(caller, scope, name, body.value, precondition);
    return noContent({ etag });
  });

  api.on(deleteSetting, async ({ params: { scope, name }, caller, precondition }) => {
    await write(caller, scope, name, null, precondition);
    return noContent();
  });

  api.on(putSettings, async ({ params: { scope }, body, caller }) => {
    await recordBatch(db, caller);
    const known = await definitions.all();
    const written = new Map<string, Promise<unknown>>();
    // The setting is part of the operation's id anyway. Former versions wrote all of several items about one.
    const writeLast = (definition: SettingDefinition) => {
      const { name } = definition;
      const { value, index } = lastWritable(body.items, definition, scope);
      const operationId =
        caller.operationId && index > 0 ? `${caller.operationId}#${index}` : caller.operationId;
      return write({ ...caller, operationId }, scope, name, value);
    };
    return batchResultOf(
      body.items,
      async (item) => {
        const { name, value } = parseInput(UpdateSettingRules, item, 'body');
        const definition = requireShownDefinition(known, name, scope);
        requireAllowed(definition, scope, { type: 'write', value });
        if (!written.has(name)) written.set(name, writeLast(definition));
        await written.get(name);
        return { name, value: visibleValue(definition, value) };
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

/** Of the items about one setting the last one that can be written counts: its value, and its place among them. */
function lastWritable(
  items: readonly { name: string; value: string | null }[],
  definition: SettingDefinition,
  scope: SettingScope,
): { value: string | null; index: number } {
  const values = items
    .filter((item) => item.name === definition.name && UpdateSettingRules.safeParse(item).success)
    .map(({ value }) => value);
  const index = values.findLastIndex((value) => isAllowed(definition, scope, { type: 'write', value }));
  return { value: values[index]!, index };
}

function isAllowed(...command: Parameters<typeof requireAllowed>): boolean {
  try {
    requireAllowed(...command);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
