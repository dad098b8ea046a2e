import type { ColumnMapping } from './mapping';
import { columnsMissing } from './problems';

export interface MappedColumn {
  sourceColumn: string;
  targetProperty: string;
  position: number;
}

/**
 * The positions of the mapped columns in a file. A sheet that is named later than the mappings may have its columns in
 * another order, or other columns.
 * @throws Problem `invalid`: a mapped column is missing.
 */
export function mappedColumns(
  mappings: readonly Pick<ColumnMapping, 'sourceColumn' | 'targetProperty'>[],
  headers: readonly string[],
): MappedColumn[] {
  const mapped = mappings.flatMap(({ sourceColumn, targetProperty }) =>
    targetProperty === null
      ? []
      : [{ sourceColumn, targetProperty, position: headers.indexOf(sourceColumn) }],
  );
  const missing = mapped.filter(({ position }) => position < 0);
  if (missing.length > 0) throw columnsMissing(missing.map(({ sourceColumn }) => sourceColumn));
  return mapped;
}
