import type { ExchangeDefinition, ImportRow } from '@plinth/exchange/definition';
import { rowsInSteps } from '@plinth/exchange/in-turns';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import type { RowError } from '@plinth/exchange/row-error';
import {
  errorOfRow,
  importedSetting,
  mayUndo,
  storedSetting,
  undoneChanges,
  type ValueChange,
} from '../domain/imported-setting';
import { definitionIn } from '../domain/snapshot';
import { visibleValue } from '../domain/visible-value';
import type { DefinitionStore } from '../store/definition-store';
import { claimSettings, readStoredValues, recordImported } from '../store/exchanged-settings';
import type { SecretBox } from '../store/secret-box';
import { readRules } from '../store/stored-settings';

export interface ImportParts {
  definitions: Pick<DefinitionStore, 'all'>;
  box: Pick<SecretBox, 'seal'>;
  /** In which rows are checked: schemas may be slow, and values long. */
  valueChecks: EventLoopTurns;
}

/** What importing values of settings does beyond writing rows: the rules of a change, history and events. */
export function importSettings({ definitions, box, valueChecks }: ImportParts) {
  /** What rows change, as the history shows it; nothing of those with the value that the setting has already. */
  const changesOf = new WeakMap<ImportRow, ValueChange>();

  return {
    async check(rows, context) {
      const known = await definitions.all();
      // A lock for each name that a file may make up would take those of all tenants from the database.
      const settings = rows.map(importedSetting).filter(({ name }) => known.has(name));
      const rules = await claimSettings(settings, context);
      const stored = await readStoredValues(settings, context);
      const checkRow = (row: ImportRow): RowError | undefined => {
        const setting = importedSetting(row);
        const defined = known.get(setting.name);
        const definition = defined && definitionIn(rules, defined);
        const error = errorOfRow(row, definition, context.caller, rules.locked);
        if (error || !definition) return error;
        const storedValue = stored.get(setting) ?? null;
        const change: ValueChange = {
          setting: { name: setting.name, scope: setting.scope, userId: setting.userId },
          kind: 'Set',
          previousValue: visibleValue(definition, storedValue),
          newValue: visibleValue(definition, setting.value),
        };
        // A secret is always written, as by a request.
        if (definition.isSecret || storedValue !== setting.value) changesOf.set(row, change);
        if (definition.isSecret) row.values['value'] = box.seal(setting.value);
        return undefined;
      };
      return valueChecks.takeEach(context.caller, errorsInSteps(rows, checkRow));
    },

    async afterWrite(rows, context) {
      await recordImported(
        rows.flatMap((row) => changesOf.get(row) ?? []),
        context,
      );
    },

    async checkUndo(rows, context) {
      const changes = rows.map(({ row, former }) => ({
        id: String(row['id']),
        settings: [row, former].filter((one) => one !== null).map(storedSetting),
      }));
      const { locked } = await claimSettings(
        changes.flatMap(({ settings }) => settings),
        context,
      );
      const refused = changes.filter(({ settings }) =>
        settings.some((setting) => !mayUndo(setting, context.caller, locked)),
      );
      return new Set(refused.map(({ id }) => id));
    },

    async afterUndo(undone, context) {
      const { sealed } = await readRules(context.tx, context.caller.tenantId);
      await recordImported(undoneChanges(undone, await definitions.all(), sealed), context);
    },
  } satisfies Partial<ExchangeDefinition>;
}

function* errorsInSteps(
  rows: readonly ImportRow[],
  errorOf: (row: ImportRow) => RowError | undefined,
): Generator<void, RowError[]> {
  const errors: RowError[] = [];
  for (const part of rowsInSteps(rows)) {
    errors.push(...part.flatMap((row) => errorOf(row) ?? []));
    yield;
  }
  return errors;
}
