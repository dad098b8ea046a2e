import type { ImportOptions } from './batch-importer';
import { columnsWithKey, convertInTurns, hasKey, rowConverter } from './convert-rows';
import { hashKey } from './unwritten-keys';
import type { ImportSession } from './import-session';

/** Reads the keys of rows and writes nothing: all keys of a file show which of its rows have a duplicate key. */
export function openKeySession({
  definition,
  columns,
  format,
}: Pick<ImportOptions, 'definition' | 'columns' | 'format'>): ImportSession {
  const convert = rowConverter(definition, columnsWithKey(definition, columns), format);
  return {
    lastBatch: 0,
    prepare: async ({ rows }) => ({ conversion: await convertInTurns(convert, rows) }),
    async apply(_batch, { conversion: { rows, invalidRows } }) {
      const keys = [...rows, ...invalidRows]
        .filter(hasKey)
        .map(({ rowNumber, key }): [number, string] => [rowNumber, hashKey(key)]);
      return { inserted: 0, updated: 0, skipped: 0, failed: 0, errors: [], keys };
    },
    end: async () => false,
    close: async () => {},
  };
}
