import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { createClient } from '@plinth/sdk/client';
import {
  infiniteQueryOptions,
  mutationOptions,
  queryOptions,
  useMutation,
  useQueryClient,
  type QueryClient,
} from '@tanstack/react-query';
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

/**
 * Sets or clears a value at a level, one change after the other, so that the last choice is the one that stays; what is
 * shown changes at once, and changes back where the platform refuses it.
 */
export function settingChange(queries: QueryClient, level: Level, name: string) {
  const { queryKey } = settingsQuery(level);
  const mutationKey = ['setting-change', level, name];
  const isLast = () => queries.isMutating({ mutationKey }) <= 1;
  return mutationOptions({
    mutationKey,
    scope: { id: JSON.stringify(mutationKey) },
    mutationFn: (value: string | null) =>
      settings.putSetting({ params: { scope: level, name }, body: { value } }),
    onMutate: async (value) => {
      await queries.cancelQueries({ queryKey: ['settings'] });
      const before = queries.getQueryData(queryKey)?.[name];
      if (before)
        queries.setQueryData(
          queryKey,
          (former) => former && { ...former, [name]: withValue(level, before, value) },
        );
      return { before };
    },
    onError: (_error, _value, context) => {
      const before = context?.before;
      if (!before) return;
      // What was chosen after it is shown until the platform has judged that too, and goes back to what is stored.
      const next = queries
        .getMutationCache()
        .findAll({ mutationKey, status: 'pending' })
        .find(({ state }) => state.context !== context);
      if (next?.state.context) Object.assign(next.state.context, { before });
      else queries.setQueryData(queryKey, (former) => former && { ...former, [name]: before });
    },
    onSettled: () => (isLast() ? queries.invalidateQueries({ queryKey: ['settings'] }) : undefined),
  });
}

export const useSettingChange = (level: Level, name: string) =>
  useMutation(settingChange(useQueryClient(), level, name));
