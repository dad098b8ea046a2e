import type { SettingDefinition, SettingScope, SettingSource } from '@plinth/contracts/settings/shapes';
import { SECRET } from '@plinth/exchange/row-error';
import { hashedEntityTag } from '@plinth/kernel/entity-tag';
import type { Resolution } from './cascade';

/** What a person may read of a value: of a secret only that it is set. */
export const visibleValue = <Value extends string | null>(
  { isSecret }: SettingDefinition,
  value: Value,
): Value | typeof SECRET => (isSecret && value !== null ? SECRET : value);

/** Whether values of this level are stored; those of secrets are sealed then. */
export const isStored = (source: SettingSource): boolean => ['User', 'Tenant', 'Global'].includes(source);

/** A resolved setting as a person may read it. */
export const visibleResolution = (definition: SettingDefinition, resolution: Resolution): Resolution => ({
  ...resolution,
  value: visibleValue(definition, resolution.value),
  overrides: resolution.overrides.map(({ source, value }) => ({
    source,
    value: visibleValue(definition, value),
  })),
});

/**
 * The tag of one setting as seen at one scope; it changes with the value, its source and its lock. What is sealed tells
 * nothing; a secret of the configuration is not sealed, and could be guessed by its hash.
 */
export function tagOf(
  definition: SettingDefinition,
  scope: SettingScope,
  { value, source, locked }: Resolution,
): string {
  const hashed = isStored(source) ? value : visibleValue(definition, value);
  const seen = JSON.stringify([definition.name, scope, hashed, source, locked]);
  return hashedEntityTag(seen);
}
