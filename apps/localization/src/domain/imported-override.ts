import type { ImportRow, StoredRow, UndoneRows, WrittenRow } from '@plinth/exchange/definition';
import { errorMessage, shownValue, type RowError } from '@plinth/exchange/row-error';
import { rowMessage } from '@plinth/exchange/row-message';
import { validationCode } from '@plinth/kernel/problem';
import { comparePlaceholders, placeholdersOf } from '@plinth/kernel/placeholders';
import { baseText, type BaseTexts, type Bundle, type Override } from './texts';

export const importedOverride = ({ values }: ImportRow): Override => values as unknown as Override;

/** What a stored row belongs to. */
export const bundleOf = (row: StoredRow): Bundle => ({
  resourceName: String(row['resource_name']),
  cultureName: String(row['culture_name']),
});

const isSameBundle = (one: Bundle, other: Bundle): boolean =>
  one.resourceName === other.resourceName && one.cultureName === other.cultureName;

/** The bundles that an imported row changes: also the one from which its `Id` took the text. */
export function importedBundles(row: WrittenRow): Bundle[] {
  const bundle: Bundle = importedOverride(row);
  const former = row.formerKey as unknown as Bundle | undefined;
  return former && !isSameBundle(former, bundle) ? [former, bundle] : [bundle];
}

/** The bundles that the undo of an import changes by a row: also the one that loses the text again. */
export function restoredBundles({ undone, row }: UndoneRows['restored'][number]): Bundle[] {
  const [former, bundle] = [bundleOf(undone), bundleOf(row)];
  return isSameBundle(former, bundle) ? [bundle] : [former, bundle];
}

/** To read a text with this many characters takes some milliseconds, and 25 at worst, which nobody notices. */
const STEP_LENGTH = 4_000;

/**
 * Why rows cannot be imported. Texts with placeholders take a millisecond for a thousand characters to be read, and a
 * batch has a million of them, so that they are checked in steps.
 */
export function* errorsOfRows(base: BaseTexts, rows: readonly ImportRow[]): Generator<void, RowError[]> {
  const errors: RowError[] = [];
  let length = 0;
  for (const row of rows) {
    const error = errorOfRow(base, row);
    if (error) errors.push(error);
    length += importedOverride(row).value.length;
    if (length < STEP_LENGTH) continue;
    yield;
    length = 0;
  }
  return errors;
}

/** Why a row cannot be imported: its placeholders differ from those of the text it replaces. */
function errorOfRow(base: BaseTexts, row: ImportRow): RowError | undefined {
  const override = importedOverride(row);
  const replaced = baseText(base, override);
  if (replaced === undefined || !comparePlaceholders(replaced, override.value)) return undefined;
  const expected = [...placeholdersOf(replaced)].map((name) => `{${name}}`).join(', ') || '–';
  return {
    rowNumber: row.rowNumber,
    kind: 'Validation',
    column: 'value',
    value: shownValue(override.value),
    code: validationCode('Format'),
    ...errorMessage(rowMessage('placeholders', expected), 'value'),
  };
}
