import type { ImportOptions } from './batch-importer';
import { convertInSteps, hasKey, rowConverter } from './convert-rows';
import { mapInSteps } from '../in-turns';
import { hashKey } from './unwritten-keys';
import type { ImportSession } from './import-session';

/** Reads the keys of rows and writes nothing: all keys of a file show which of its rows have a duplicate key. */
export function openKeySession({
  definition,
  columns,
  format,
  inTurns,
}: Pick<ImportOptions, 'definition' | 'columns' | 'format' | 'inTurns'>): ImportSession {
  const convert = rowConverter(definition, columns, format);
  return {
    lastBatch: 0,
    prepare: async ({ rows }) => ({ conversion: await inTurns(convertInSteps(convert, rows)) }),
    async apply(_batch, { conversion: { rows, invalidRows } }) {
      const keyed = [...rows, ...invalidRows].filter(hasKey);
      const keys = await inTurns(
        mapInSteps(keyed, ({ rowNumber, key }): [number, string] => [rowNumber, hashKey(key)]),
      );
      return { inserted: 0, updated: 0, skipped: 0, failed: 0, errors: [], keys };
    },
    end: async () => false,
    close: async () => {},
  };
}
