import type { ReactNode } from 'react';
import { TableFrame } from './table-frame';

export interface Column<Item> {
  name: string;
  /** What is in it for an item; null for nothing. */
  cell: (item: Item) => ReactNode;
  /** At the end of its column; on a card it is said what the number is of. */
  isNumber?: boolean;
}

interface ColumnTableProps<Item> {
  label: string;
  items: readonly Item[];
  keyOf: (item: Item) => string;
  /** The first is what an item is called. */
  columns: readonly Column<Item>[];
  /** Whether an item is opened by its whole row, as the link in its first column covers it. */
  isLinked?: boolean;
}

/** A table of items; in a narrow window each of them is a card. */
export const ColumnTable = <Item,>({
  label,
  items,
  keyOf,
  columns,
  isLinked = false,
}: ColumnTableProps<Item>) => (
  <TableFrame label={label} cardsWhenNarrow>
    <thead>
      <tr>
        {columns.map(({ name, isNumber }) => (
          <th key={name} scope="col" className={isNumber ? 'end' : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <tr key={keyOf(item)} className={isLinked ? 'linked' : undefined}>
          {columns.map(({ name, cell, isNumber = false }, index) => {
            if (index === 0)
              return (
                <th key={name} scope="row">
                  {cell(item)}
                </th>
              );
            const content = cell(item);
            const looks = [isNumber && 'end', content === null && 'nothing'].filter(Boolean).join(' ');
            return (
              <td key={name} className={looks || undefined} data-label={isNumber ? name : undefined}>
                {content ?? '–'}
              </td>
            );
          })}
        </tr>
      ))}
    </tbody>
  </TableFrame>
);
