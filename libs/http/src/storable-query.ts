import { invalid } from '@plinth/kernel/problem';
import { isUnstorable } from '@plinth/kernel/text';

/**
 * Refuses a query with a name or value that no database could store, whether anything reads it or not.
 * @throws Problem `invalid` that names the parameter
 */
export function requireStorableQuery(query: Readonly<Record<string, unknown>>): void {
  const unstorable = Object.entries(query).find(
    ([name, value]) => isUnstorable(name) || [value ?? ''].flat().some((one) => isUnstorable(String(one))),
  );
  if (unstorable)
    throw invalid(
      { [unstorable[0].replaceAll('\0', '')]: 'Format' },
      'A parameter contains NUL or half of a surrogate pair.',
    );
}
