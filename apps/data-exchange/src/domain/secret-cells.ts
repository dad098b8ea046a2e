import { SECRET } from '@plinth/exchange/row-error';
import type { Definition } from './definition';
import type { MappedColumn } from './mapped-columns';

/**
 * What may be stored and shown of the cells of a row. Where a definition has secrets, only columns of other fields are
 * shown: a column that is not mapped may have secrets too, and so may each cell of a row that could not be divided.
 */
export function withoutSecrets(
  { fields }: Pick<Definition, 'fields'>,
  mapped: readonly Pick<MappedColumn, 'targetProperty' | 'position'>[],
): (cells: readonly string[], isDivided: boolean) => string[] {
  const secret = new Set(fields.flatMap(({ isSecret, propertyPath }) => (isSecret ? [propertyPath] : [])));
  if (secret.size === 0) return (cells) => [...cells];
  const shown = new Set(
    mapped.flatMap(({ targetProperty, position }) => (secret.has(targetProperty) ? [] : [position])),
  );
  return (cells, isDivided) =>
    cells.map((cell, position) => (cell === '' || (isDivided && shown.has(position)) ? cell : SECRET));
}
