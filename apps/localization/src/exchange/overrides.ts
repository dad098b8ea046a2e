import { canonicalCulture } from '@plinth/contracts/schemas';
import {
  OVERRIDE_KEY_LENGTH_MAX,
  OVERRIDE_VALUE_LENGTH_MAX,
  RESOURCE_NAME_LENGTH_MAX,
} from '@plinth/contracts/localization/shapes';
import { defineExchange, type BatchContext, type ImportRow } from '@plinth/exchange/definition';
import { breaksRule, type CellError } from '@plinth/exchange/field';
import { textField } from '@plinth/exchange/fields';
import { inIndexOrder } from '@plinth/exchange/look-up';
import { rowMessage } from '@plinth/exchange/row-message';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import {
  bundleOf,
  errorsOfRows,
  importedBundles,
  importedOverride,
  restoredBundles,
} from '../domain/imported-override';
import type { BaseTexts } from '../domain/texts';
import { longOverrideBytes, storedLongBytes } from '../store/long-overrides';
import { recordOverridesChanged } from '../store/override-changes';
import type { TextQuota } from '../store/text-quota';
import synonyms from './overrides.synonyms.json';

const CULTURE_LENGTH_MAX = 35;

/**
 * `Localization.Overrides`: the texts that a tenant has instead of those of the platform.
 * @param textChecks in which imported texts are checked
 * @param quota which is told what long texts are there already
 */
export const overridesExchange = (
  base: BaseTexts,
  textChecks: EventLoopTurns,
  quota: Pick<TextQuota, 'noteStored' | 'recordRestored'>,
  onOverridesChanged: (tenantId: string) => void,
) =>
  defineExchange({
    name: 'Localization.Overrides',
    entityType: 'LocalizationOverride',
    permission: 'Localization.Overrides.Manage',
    importable: true,
    table: 'override',
    key: ['resourceName', 'cultureName', 'key'],
    defaultSort: 'resourceName,cultureName,key',
    searchable: ['key', 'value'],
    keysMayChange: true,
    rowsAreIndependent: true,
    onInsert: { modified_by: 'caller-id' },
    // What the texts of a file were written against is not known.
    onUpdate: { version: 'next', modified_at: 'now', modified_by: 'caller-id', replaced_value: 'nothing' },
    fields: {
      resourceName: textField({
        column: 'resource_name',
        header: 'Resource',
        description: 'Name of the set of texts that the text belongs to',
        required: true,
        compose: true,
        lengthMax: RESOURCE_NAME_LENGTH_MAX,
        ...synonyms.resourceName,
      }),
      cultureName: textField({
        column: 'culture_name',
        header: 'Culture',
        description: 'Language of the text as a BCP 47 tag, such as fr-CA',
        required: true,
        lengthMax: CULTURE_LENGTH_MAX,
        ...synonyms.cultureName,
        refine: cultureReader(),
      }),
      key: textField({
        column: 'key',
        header: 'Key',
        description: 'Key of the text inside its resource, nested names joined by dots',
        required: true,
        compose: true,
        lengthMax: OVERRIDE_KEY_LENGTH_MAX,
        ...synonyms.key,
      }),
      value: textField({
        column: 'value',
        header: 'Value',
        description: 'The text; it takes the placeholders of the text that it replaces',
        required: true,
        allowsEmpty: true,
        lengthMax: OVERRIDE_VALUE_LENGTH_MAX,
        ...synonyms.value,
      }),
    },
    check: async (rows, context) => {
      await noteStoredLongTexts(quota, rows, context);
      return textChecks.takeEach(context.caller, errorsOfRows(base, rows));
    },
    afterWrite: (rows, { tx, caller }) => recordOverridesChanged(tx, caller, rows.flatMap(importedBundles)),
    afterUndo: async ({ removed, restored }, { tx, caller }) => {
      quota.recordRestored(caller.tenantId, restored);
      await recordOverridesChanged(tx, caller, [
        ...removed.map(bundleOf),
        ...restored.flatMap(restoredBundles),
      ]);
    },
    afterCommit: ({ caller }) => onOverridesChanged(caller.tenantId),
  });

/** A long text that is stored already needs room only for what it grows by. */
async function noteStoredLongTexts(
  quota: Pick<TextQuota, 'noteStored'>,
  rows: readonly ImportRow[],
  { connection, tx, caller }: BatchContext,
): Promise<void> {
  const rowOf = new Map(
    rows.flatMap((row) => {
      const override = importedOverride(row);
      return longOverrideBytes(override) > 0 ? [[override, row] as const] : [];
    }),
  );
  if (rowOf.size === 0) return;
  const stored = await inIndexOrder(connection, () =>
    storedLongBytes(tx, caller.tenantId, [...rowOf.keys()]),
  );
  for (const [override, bytes] of stored) quota.noteStored(rowOf.get(override)!, bytes);
}

const CULTURES_CACHED_MAX = 5_000;

/** Reads language tags. A file has few different ones, many times. */
function cultureReader(): (text: string) => string | CellError {
  const known = new Map<string, string | CellError>();
  return (text) => {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    const culture = canonicalCulture(text.trim()) ?? breaksRule('Format', rowMessage('writtenLike', 'fr-CA'));
    if (known.size < CULTURES_CACHED_MAX) known.set(text, culture);
    return culture;
  };
}
