import type { ImportRow, StoredRow } from '@plinth/exchange/definition';
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

/** Why a row cannot be imported: its placeholders differ from those of the text it replaces. */
export function errorOfRow(base: BaseTexts, row: ImportRow): RowError | undefined {
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
