import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { createClient } from '@plinth/sdk/client';
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { clientOptions } from './platform';

export const settings = createClient(settingsEndpoints, clientOptions);

export type Level = SettingScope;
export type SettingDefinition = Awaited<ReturnType<typeof settings.getSettingDefinitions>>['body'][number];
type SettingsOfLevel = Awaited<ReturnType<typeof settings.getManagedSettings>>['body'];
export type Setting = SettingsOfLevel[string];

export const settingDefinitionsQuery = queryOptions({
  queryKey: ['setting-definitions'],
  queryFn: async ({ signal }) => (await settings.getSettingDefinitions({ signal })).body,
  staleTime: 60_000,
});

/** Every setting as seen at one level of the cascade. */
export const settingsQuery = (level: Level) =>
  queryOptions({
    queryKey: ['settings', level],
    queryFn: async ({ signal }) =>
      (await settings.getManagedSettings({ params: { scope: level }, signal })).body,
  });

export const settingHistoryQuery = (level: Level, name: string) =>
  infiniteQueryOptions({
    queryKey: ['settings', level, name, 'history'],
    queryFn: async ({ pageParam, signal }) => {
      const list = { cursor: pageParam, pageSize: 20 };
      return (await settings.getSettingHistory({ params: { scope: level, name }, list, signal })).body;
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

const sourceOfLevel = { user: 'User', tenant: 'Tenant', global: 'Global' } as const;

/** Whether the value is set at the level itself, and not taken from a weaker one. */
export const isSetAt = (level: Level, { source }: Setting): boolean => source === sourceOfLevel[level];

/** The setting as it will be once the value is set at the level; null clears it there. */
function withValue(level: Level, setting: Setting, value: string | null): Setting {
  const { source, overrides } = setting;
  const hidden = isSetAt(level, setting)
    ? overrides
    : [...(setting.value === null ? [] : [{ source, value: setting.value }]), ...overrides];
  if (value !== null) return { ...setting, value, source: sourceOfLevel[level], overrides: hidden };
  const [next, ...rest] = hidden;
  return {
    ...setting,
    value: next?.value ?? null,
    source: next?.source ?? 'Default',
    overrides: rest,
  };
}

/** Sets or clears values of a level; what is shown changes at once, and changes back where the platform refuses it. */
export function useSettingChange(level: Level) {
  const queries = useQueryClient();
  const { queryKey } = settingsQuery(level);
  return useMutation({
    mutationFn: ({ name, value }: { name: string; value: string | null }) =>
      settings.putSetting({ params: { scope: level, name }, body: { value } }),
    onMutate: async ({ name, value }) => {
      await queries.cancelQueries({ queryKey: ['settings'] });
      const before = queries.getQueryData(queryKey);
      const setting = before?.[name];
      if (before && setting)
        queries.setQueryData(queryKey, { ...before, [name]: withValue(level, setting, value) });
      return { before };
    },
    onError: (_error, _change, context) => queries.setQueryData(queryKey, context?.before),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
}
