import { hasKey, rowConverter } from './convert';
import { hashOf } from './earlier-rows';
import { columnsWithKey, type ImportSession, type ImportStart } from './import-session';

/** Reads the keys of rows and writes nothing: whoever has all of them knows which rows of a file are the same. */
export function openKeySession({
  definition,
  columns,
  format,
}: Pick<ImportStart, 'definition' | 'columns' | 'format'>): ImportSession {
  const convert = rowConverter(definition, columnsWithKey(definition, columns), format);
  return {
    lastBatch: 0,
    convert: ({ rows }) => convert(rows),
    async apply(_batch, { rows, faulty }) {
      const keys = [...rows, ...faulty]
        .filter(hasKey)
        .map(({ rowNumber, key }): [number, string] => [rowNumber, hashOf(key)]);
      return { inserted: 0, updated: 0, skipped: 0, failed: 0, faults: [], keys };
    },
    end: async () => false,
    close: async () => {},
  };
}
