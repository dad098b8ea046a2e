import { seededRandom } from '@plinth/testing/seeded-random';

/** What a cell of text may be made of wherever it is written: formulas, numbers and dates that are none, quotes, lines. */
const everywhere = [
  '=1+1',
  '+49 30',
  '-5',
  '-a',
  '@SUM(A1:A9)',
  "'",
  "'=x",
  '\t',
  '\r',
  '\n',
  '\r\n',
  '"',
  '""',
  ',',
  ';',
  '|',
  ' ',
  '  ',
  '1,5',
  '1.234,5',
  '31.12.2026',
  '12/31/2026',
  'true',
  'NULL',
  '_x000D_',
  '<b>&amp;',
  'word',
  '0',
];

export const unicode = [
  '😀',
  '👩‍👩‍👧',
  'ß',
  'é',
  'e\u0301',
  '漢字',
  'שלום',
  'مرحبا',
  '\u2028',
  '\u00a0',
  '＝1',
  '\ufeff',
];

/** Rows as an owner may hold them, the same for the same seed; `letters` are those of an encoding. */
export function randomArticles(count: number, letters: readonly string[], seed: number): unknown[][] {
  const next = seededRandom(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const sometimes = <Value>(value: () => Value): Value | null => (below(5) === 0 ? null : value());
  const digits = (length: number) => Array.from({ length }, () => below(10)).join('');
  const pieces = [...everywhere, ...letters];
  const text = () => {
    const made = Array.from({ length: 1 + below(6) }, () => pieces[below(pieces.length)]).join('');
    return made.trim() === '' ? `${made}x` : made;
  };
  const number = () =>
    `${below(3) === 0 ? '-' : ''}${1 + below(9)}${digits(below(20))}${below(2) === 0 ? `.${digits(1 + below(20))}` : ''}`;
  const instant = () => new Date(-62_000_000_000_000 + below(300_000) * 1_000_000_000 + below(1_000_000_000));
  return Array.from({ length: count }, (_, row) => [
    `K${row}`,
    text(),
    sometimes(() => `${below(10)}${digits(below(14))}`.replace(/^0+(?=.)/, '')),
    sometimes(number),
    sometimes(() => below(2) === 0),
    sometimes(() => instant().toISOString().slice(0, 10)),
    sometimes(() => instant().toISOString()),
    sometimes(() => (below(2) === 0 ? 'food' : 'book')),
  ]);
}
