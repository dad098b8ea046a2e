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
import { visibleValue } from '../domain/visible-value';
import type { DefinitionStore } from '../store/definition-store';
import { claimSettings, readStoredValues, recordImported } from '../store/exchanged-settings';
import type { SecretBox } from '../store/secret-box';

export interface ImportParts {
  definitions: Pick<DefinitionStore, 'all'>;
  box: Pick<SecretBox, 'seal'>;
  /** In which rows are checked: schemas may be slow, and values long. */
  valueChecks: EventLoopTurns;
}

/** What importing values of settings does beyond writing rows: the rules of a change, history and events. */
export function importSettings({ definitions, box, valueChecks }: ImportParts) {
  /** The values that rows replace, for the history. */
  const previousValues = new WeakMap<ImportRow, string | null>();

  return {
    async check(rows, context) {
      const known = await definitions.all();
      // A lock for each name that a file may make up would take those of all tenants from the database.
      const settings = rows.map(importedSetting).filter(({ name }) => known.has(name));
      const locked = await claimSettings(settings, context);
      const stored = await readStoredValues(settings, context);
      const checkRow = (row: ImportRow): RowError | undefined => {
        const setting = importedSetting(row);
        const definition = known.get(setting.name);
        const error = errorOfRow(row, definition, context.caller, locked);
        if (error || !definition) return error;
        previousValues.set(row, visibleValue(definition, stored.get(setting) ?? null));
        if (definition.isSecret) row.values['value'] = box.seal(setting.value);
        return undefined;
      };
      return valueChecks.takeEach(context.caller, errorsInSteps(rows, checkRow));
    },

    async afterWrite(rows, context) {
      const known = await definitions.all();
      const changes = rows.map((row): ValueChange => {
        const setting = importedSetting(row);
        const newValue = visibleValue(known.get(setting.name)!, setting.value);
        return { setting, kind: 'Set', previousValue: previousValues.get(row) ?? null, newValue };
      });
      await recordImported(changes, context);
    },

    async checkUndo(rows, context) {
      const changes = rows.map(({ row, former }) => ({
        id: String(row['id']),
        settings: [row, former].filter((one) => one !== null).map(storedSetting),
      }));
      const locked = await claimSettings(
        changes.flatMap(({ settings }) => settings),
        context,
      );
      const refused = changes.filter(({ settings }) =>
        settings.some((setting) => !mayUndo(setting, context.caller, locked)),
      );
      return new Set(refused.map(({ id }) => id));
    },

    async afterUndo(undone, context) {
      await recordImported(undoneChanges(undone, await definitions.all()), context);
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
