import { localizationProblems } from '@plinth/contracts/localization/problems';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { invalid, Problem } from '@plinth/kernel/problem';
import type { PlaceholderDifference } from '@plinth/kernel/placeholders';
import type { OverrideKey } from './texts';

export const overrideStoreMissing = (): Problem =>
  localizationProblems['override-store-missing'](
    'Overrides of texts are not available in this installation.',
  );

export const overrideNotFound = ({ resourceName, cultureName, key }: OverrideKey): Problem =>
  localizationProblems['override-not-found'](
    `The text "${key}" of ${resourceName} is not overridden in ${cultureName}.`,
  );

/** @param places of the texts of a request, from 0 */
export const textsChanged = (places: readonly number[]): Problem =>
  platformProblems['stale-version'](
    `${places.length} of the texts were changed since you read them; read them again and repeat your change.`,
    { extensions: { staleItems: places } },
  );

export const tooManyTexts = (charactersMax: number, textsMax: number): Problem =>
  new Problem(
    'too-large',
    `The tenant has more than ${textsMax} texts, or ${charactersMax} characters of texts, of this resource in this culture; export Localization.Overrides to read them all.`,
  );

export function placeholdersDiffer({ missing, unexpected }: PlaceholderDifference): Problem {
  const list = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ');
  const differences = [
    ...(missing.length > 0 ? [`missing: ${list(missing)}`] : []),
    ...(unexpected.length > 0 ? [`unexpected: ${list(unexpected)}`] : []),
  ];
  return invalid(
    { value: 'Format' },
    `The placeholders differ from those of the text it replaces (${differences.join('; ')}).`,
  );
}
