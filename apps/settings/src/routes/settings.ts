import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import {
  UpdateSettingRules,
  type SettingDefinition,
  type SettingScope,
} from '@plinth/contracts/settings/shapes';
import type { Api } from '@plinth/conventions/api';
import { batchResultOf } from '@plinth/conventions/batch';
import { noContent, ok } from '@plinth/conventions/reply';
import { parseInput } from '@plinth/conventions/validation';
import type { Caller } from '@plinth/kernel/caller';
import type { IfMatch } from '@plinth/kernel/entity-tag';
import type { Deps } from '../compose';
import { resolve } from '../domain/cascade';
import { settingNotDefined } from '../domain/problems';
import { tagOf, visibleValue } from '../domain/visible-value';
import { levelOf, locksOf } from '../store/setting-store';

const { getSettings, getSetting, putSetting, deleteSetting, putSettings, getEffectiveSettings } =
  settingsEndpoints;

export function mountSettings(
  api: Api,
  { definitions, settings, snapshots }: Pick<Deps, 'definitions' | 'settings' | 'snapshots'>,
): void {
  const snapshotOf = (caller: Caller, scope: SettingScope) => {
    const { tenantId, userId } = levelOf(caller, scope);
    return snapshots.of(tenantId, userId);
  };
  const write = async (
    caller: Caller,
    scope: SettingScope,
    name: string,
    value: string | null,
    ifMatch?: IfMatch,
  ) => settings.write(caller, scope, await definitionAt(scope, name), value, ifMatch);

  /** The definition of a setting that exists at this scope as far as this caller may know. */
  const definitionAt = async (scope: SettingScope, name: string): Promise<SettingDefinition> => {
    const definition = (await definitions.all()).get(name);
    if (!definition || !isShownAt(scope, definition)) throw settingNotDefined(name);
    return definition;
  };

  api.on(getSettings, async ({ params: { scope }, caller }) => {
    const snapshot = await snapshotOf(caller, scope);
    const shown = [...(await definitions.all()).values()].filter((definition) =>
      isShownAt(scope, definition),
    );
    return Object.fromEntries(
      shown.map((definition) => {
        const { value } = resolve(
          settings.levelValues(snapshot, definition),
          locksOf(snapshot, definition.name),
          scope,
        );
        return [definition.name, visibleValue(definition, value)];
      }),
    );
  });

  api.on(getSetting, async ({ params: { scope, name }, caller }) => {
    const definition = await definitionAt(scope, name);
    const snapshot = await snapshotOf(caller, scope);
    const values = settings.levelValues(snapshot, definition);
    const locks = locksOf(snapshot, name);
    const { value } = resolve(values, locks, scope);
    return ok(
      { name, value: visibleValue(definition, value) },
      { etag: tagOf(definition, values, locks, scope) },
    );
  });

  api.on(putSetting, async ({ params: { scope, name }, body, caller, ifMatch }) => {
    await write(caller, scope, name, body.value, ifMatch);
    return noContent();
  });

  api.on(deleteSetting, async ({ params: { scope, name }, caller, ifMatch }) => {
    await write(caller, scope, name, null, ifMatch);
    return noContent();
  });

  api.on(putSettings, ({ params: { scope }, body, caller }) =>
    batchResultOf(body.items, async (item) => {
      const { name, value } = parseInput(UpdateSettingRules, item, 'body');
      await write(caller, scope, name, value);
      return { name, value: visibleValue(await definitionAt(scope, name), value) };
    }),
  );

  api.on(getEffectiveSettings, async ({ caller }) => {
    const snapshot = await snapshotOf(caller, 'user');
    const shown = [...(await definitions.all()).values()].filter((definition) =>
      isShownAt('user', definition),
    );
    return Object.fromEntries(
      shown.map((definition) => {
        const resolution = resolve(
          settings.levelValues(snapshot, definition),
          locksOf(snapshot, definition.name),
          'user',
        );
        const overrides = resolution.overrides.map(({ source, value }) => ({
          source,
          value: visibleValue(definition, value) ?? '',
        }));
        return [
          definition.name,
          { ...resolution, value: visibleValue(definition, resolution.value), overrides },
        ];
      }),
    );
  });
}

/** Users see what is meant for them; whoever may read a tenant's or the platform's level sees all of it. */
const isShownAt = (scope: SettingScope, { isVisibleToUsers }: SettingDefinition): boolean =>
  scope !== 'user' || isVisibleToUsers;
