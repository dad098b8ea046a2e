import type { SettingScope } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { Log } from '@plinth/runtime/process/log';
import type { Resolution } from '../domain/cascade';
import { isShownAt, requireShownDefinition } from '../domain/definitions';
import { levelOf } from '../domain/level';
import { definitionIn, resolveSetting, type Snapshot } from '../domain/snapshot';
import { isStored, tagOf, visibleResolution, visibleValue } from '../domain/visible-value';
import type { DefinitionStore } from '../store/definition-store';
import type { SecretBox } from '../store/secret-box';
import type { SnapshotCache } from '../store/snapshot-cache';

interface ResolvedValue {
  name: string;
  isSecret: boolean;
  value: string | null;
}

interface ManagedResolution extends Resolution {
  /** Whether this level holds the value fast for those below it. */
  lockedHere: boolean;
}

export interface SettingReader {
  /** All settings that a scope shows, as a caller sees them there. */
  visibleSettings(caller: Caller, scope: SettingScope): Promise<Map<string, Resolution>>;
  /** The same for who manages them there: also what is locked at this scope. */
  managedSettings(caller: Caller, scope: SettingScope): Promise<Map<string, ManagedResolution>>;
  /** @throws Problem `setting-not-defined` */
  visibleSetting(
    caller: Caller,
    scope: SettingScope,
    name: string,
  ): Promise<{ value: string | null; etag: string }>;
  /**
   * Values for another service: those that the caller may see, secrets masked, or without a caller all of them,
   * secrets in clear. Without a user they are those of the tenant; without names, those of all settings.
   */
  resolve(
    of: { tenantId: string; userId: string },
    names: readonly string[],
    caller: Caller | null,
  ): Promise<ResolvedValue[]>;
}

interface Parts {
  definitions: Pick<DefinitionStore, 'all'>;
  snapshots: Pick<SnapshotCache, 'of'>;
  box: Pick<SecretBox, 'open'>;
  log: Log;
}

export function settingReader({ definitions, snapshots, box, log }: Parts): SettingReader {
  /** Null for what none of the keys opens, so that it takes no other setting with it. */
  const open = (value: string, setting: string, tenantId: string): string | null => {
    const opened = box.open(value);
    if (opened === undefined)
      log.error({ setting, tenantId }, 'a secret cannot be opened with any of the configured keys');
    return opened ?? null;
  };
  const snapshotAt = (caller: Caller, scope: SettingScope) => {
    const { tenantId, userId } = levelOf(caller, scope);
    return snapshots.of(tenantId, userId);
  };

  const resolveShown = async <Seen>(
    caller: Caller,
    scope: SettingScope,
    seen: (resolution: Resolution, name: string, snapshot: Snapshot) => Seen,
  ): Promise<Map<string, Seen>> => {
    const snapshot = await snapshotAt(caller, scope);
    const shown = [...(await definitions.all()).values()].filter((one) => isShownAt(scope, one));
    return new Map(
      shown.map((definition) => {
        const resolution = visibleResolution(
          definitionIn(snapshot, definition),
          resolveSetting(snapshot, definition, scope),
        );
        return [definition.name, seen(resolution, definition.name, snapshot)];
      }),
    );
  };

  return {
    visibleSettings: (caller, scope) => resolveShown(caller, scope, (resolution) => resolution),

    managedSettings: (caller, scope) =>
      resolveShown(caller, scope, (resolution, name, { locked }) => ({
        ...resolution,
        lockedHere: scope !== 'user' && locked[scope].has(name),
      })),

    async visibleSetting(caller, scope, name) {
      const known = requireShownDefinition(await definitions.all(), name, scope);
      const snapshot = await snapshotAt(caller, scope);
      const definition = definitionIn(snapshot, known);
      const resolution = resolveSetting(snapshot, definition, scope);
      return {
        value: visibleValue(definition, resolution.value),
        etag: tagOf(definition, scope, resolution),
      };
    },

    async resolve({ tenantId, userId }, names, caller) {
      const known = await definitions.all();
      const snapshot = await snapshots.of(tenantId, userId);
      const scope = userId === '' ? 'tenant' : 'user';
      // A name that is asked for many times is answered once: values are much longer than names.
      return [...new Set(names.length > 0 ? names : known.keys())]
        .map((name) => known.get(name))
        .filter((definition) => definition !== undefined)
        .filter(({ isVisibleToUsers }) => caller === null || isVisibleToUsers)
        .map((known) => {
          const definition = definitionIn(snapshot, known);
          const { name, isSecret } = definition;
          const { value, source } = resolveSetting(snapshot, definition, scope);
          if (caller) return { name, isSecret, value: visibleValue(definition, value) };
          const isSealed = snapshot.sealed.has(name) && isStored(source);
          return { name, isSecret, value: value !== null && isSealed ? open(value, name, tenantId) : value };
        });
    },
  };
}
