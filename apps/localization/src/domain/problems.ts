import { localizationProblems } from '@plinth/contracts/localization/problems';
import { invalid, type Problem } from '@plinth/kernel/problem';
import type { PlaceholderDifference } from './placeholders';
import type { Override } from './texts';

export const overrideStoreMissing = (): Problem =>
  localizationProblems['override-store-missing']('This installation keeps no overrides of texts.');

export const overrideNotFound = ({ resourceName, cultureName, key }: Omit<Override, 'value'>): Problem =>
  localizationProblems['override-not-found'](
    `The text "${key}" of ${resourceName} is not overridden in ${cultureName}.`,
  );

export function placeholdersDiffer({ missing, unexpected }: PlaceholderDifference): Problem {
  const list = (names: readonly string[]) => names.map((name) => `{${name}}`).join(', ');
  const faults = [
    ...(missing.length > 0 ? [`it lacks ${list(missing)}`] : []),
    ...(unexpected.length > 0 ? [`it has ${list(unexpected)} too much`] : []),
  ];
  return invalid(
    { value: 'Format' },
    `The placeholders differ from those of the text it replaces: ${faults.join(', and ')}.`,
  );
}
