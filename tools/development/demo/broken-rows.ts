import type { Row } from './cldr-rows.ts';

export interface BrokenRow {
  /** Place in the list of rows. */
  index: number;
  kind: 'Conversion' | 'Validation' | 'Identity';
  cells: string[];
}

const VALUE_LENGTH_MAX = 4_000;

const ways: readonly { kind: BrokenRow['kind']; breakRow(row: Row, neighbour: Row): string[] }[] = [
  {
    kind: 'Validation',
    breakRow: ([resource, culture, key, value]) => [resource, `${culture}_?`, key, value],
  },
  { kind: 'Validation', breakRow: ([resource, culture, , value]) => [resource, culture, '', value] },
  {
    kind: 'Validation',
    breakRow: ([resource, culture, key, value]) => [
      resource,
      culture,
      key,
      value + '…'.repeat(VALUE_LENGTH_MAX),
    ],
  },
  { kind: 'Identity', breakRow: (row, [resource, culture, key]) => [resource, culture, key, row[3]] },
  { kind: 'Conversion', breakRow: (row) => [...row, 'one cell too many'] },
];

/** Breaks every `distance`th row, in five ways by turns. */
export function breakRows(rows: readonly Row[], distance = 100): BrokenRow[] {
  const broken: BrokenRow[] = [];
  for (let index = distance - 1; index < rows.length; index += distance) {
    const { kind, breakRow } = ways[broken.length % ways.length]!;
    broken.push({ index, kind, cells: breakRow(rows[index]!, rows[index - 1]!) });
  }
  return broken;
}
