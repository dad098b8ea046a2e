import { createHash } from 'node:crypto';
import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { entityTag } from '@plinth/kernel/entity-tag';
import { resolve, type LevelValues, type Locks } from './cascade';

/** What stands in place of a secret wherever it is shown. */
export const SECRET = '***';

/** What a person may read of a value: a secret says only that it is there. */
export const visibleValue = ({ isSecret }: SettingDefinition, value: string | null): string | null =>
  isSecret && value !== null ? SECRET : value;

/** The tag of one setting as seen at one scope; it changes with the value, its source and its lock. */
export function tagOf(
  { name }: SettingDefinition,
  values: LevelValues,
  locks: Locks,
  scope: SettingScope,
): string {
  const { value, source, locked } = resolve(values, locks, scope);
  const seen = JSON.stringify([name, scope, value, source, locked]);
  return entityTag(createHash('sha256').update(seen).digest('base64url').slice(0, 27));
}
