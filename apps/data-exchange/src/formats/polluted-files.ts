/**
 * Files as the world makes them: a table of 84 rows and 9 columns in the ways that the Pollock benchmark pollutes one
 * (Vitagliano et al., "Pollock: A Data Loading Benchmark", PVLDB 2023), with its numbers of files, its weights and its
 * measures. The table is our own; the measures compare cells as they are, while the benchmark also writes equal numbers
 * and dates alike.
 */
export interface PollutedFile {
  kind: string;
  /** The row that is polluted, where it is one. */
  row?: number;
  /** How often files of this kind were found in the survey behind the benchmark. */
  weight: number;
  text: string;
  /** What the file holds: the header where there is one, then the rows. */
  clean: string[][];
}

interface Cell {
  value: string;
  isQuoted: boolean;
}

interface Row {
  cells: Cell[];
  /** Stands before each cell; nothing before the first. */
  delimiters: string[];
  lineEnd: string;
}

interface Marks {
  quote: string;
  escape: string;
}

const ROWS = 84;
const COLUMNS = 9;
const usualMarks: Marks = { quote: '"', escape: '"' };

const header = ['DAY', 'HOUR', 'Amount', 'ITEM', 'Cost', 'Family', 'Words', 'Page', 'Remarks'];
const families = [
  "Children's Lamp",
  'Walking Stick, Ash',
  'Kettle',
  "Gardener's Gloves, Large",
  'Field Table 60"',
];
const sentences = [
  'Made of oak from the north and oiled by hand until it shines.',
  "Light, quiet and warm: it won't tire, even on the longest of days.",
  'A shelf of 12\\\'4" length, planed on both sides, and made to stay straight.',
  'Fits into every pocket, dries within an hour, and asks for nothing else.',
  "The makers' own favourite, sewn twice at every seam.",
];

const isQuoted = (value: string, column: number): boolean => column === 7 || /[",]/.test(value);

function rowOf(number: number): string[] {
  const two = (value: number) => String(value).padStart(2, '0');
  const code = `${'KLMNPRST'[number % 8]}${'ABDEG'[number % 5]}-${1_000 + ((number * 7_919) % 9_000)}`;
  return [
    `${two(1 + (number % 28))}/${two(1 + (number % 12))}/2018`,
    `${two(number % 24)}:${two((number * 15) % 60)}`,
    String((number * 13) % 31),
    code,
    `$${((number * 3_137) % 9_000) / 100}`,
    families[number % families.length]!,
    `${sentences[number % sentences.length]} No. ${number}`,
    `https://shop.example/item/${code.replace('-', '_')}.html`,
    '',
  ];
}

const toRow = (values: readonly string[]): Row => ({
  cells: values.map((value, column) => ({
    value,
    isQuoted: value !== header[column] && isQuoted(value, column),
  })),
  delimiters: values.map((_, column) => (column === 0 ? '' : ',')),
  lineEnd: '\r\n',
});

const sourceRows = (): Row[] =>
  [header, ...Array.from({ length: ROWS - 1 }, (_, row) => rowOf(row + 1))].map(toRow);
const valuesOf = (rows: readonly Row[]): string[][] =>
  rows.map(({ cells }) => cells.map(({ value }) => value));

const write = (rows: readonly Row[], { quote, escape } = usualMarks): string =>
  rows
    .map(({ cells, delimiters, lineEnd }) => {
      const written = cells.map(({ value, isQuoted: quoted }, column) => {
        const inner = value.replaceAll('"', `${escape}"`);
        return (delimiters[column] ?? '') + (quoted ? quote + inner + quote : inner);
      });
      return written.join('') + delimiters.slice(cells.length).join('') + lineEnd;
    })
    .join('');

/** A change of the table, and what it then holds where that is another thing. */
function polluted(
  kind: string,
  weight: number,
  change: (rows: Row[]) => Row[] | void,
  { clean, marks }: { clean?: (rows: Row[]) => string[][]; marks?: Marks } = {},
): PollutedFile {
  const rows = sourceRows();
  const changed = change(rows) ?? rows;
  return { kind, weight, text: write(changed, marks), clean: clean ? clean(rows) : valuesOf(sourceRows()) };
}

const withDelimiter = (delimiter: string) => (rows: Row[]) => {
  for (const row of rows) row.delimiters = row.delimiters.map((_, column) => (column === 0 ? '' : delimiter));
};
const withLineEnd = (lineEnd: string) => (rows: Row[]) => {
  for (const row of rows) row.lineEnd = lineEnd;
};
const textRow = (text: string): Row => toRow([text, ...Array<string>(COLUMNS - 1).fill('')]);

function anotherTable(columns: number): Row[] {
  const names = [...header, ...Array.from({ length: columns }, (_, index) => `more ${index + 1}`)].slice(
    0,
    columns,
  );
  const rows = Array.from({ length: ROWS - 1 }, (_, row) => [...rowOf(row + 1), '', ''].slice(0, columns));
  return [names, ...rows].map(toRow);
}

/** How often each kind of pollution was found; that of one kind is divided among its files. */
const OTHER_CELLS = 0.36775106082036774;
const EXTRA_QUOTE = 0.009259259259259259;
const MULTIPLE_TABLES = 188 / 3;
const HEADER_ROWS = 47;
/** Rows with blanks between their cells are not in the published weights as of their version; counted as other cells. */
const BLANKS_IN_ROW = OTHER_CELLS;

const joinedHeader = (count: number) => (rows: Row[]) => [
  header.map((name) => Array<string>(count).fill(name).join(' ')),
  ...valuesOf(rows.slice(1)),
];

/** All files: one source, 12 of the whole file, 9 of its marks, and three kinds for each cell and one for each row. */
export function pollutedFiles(): PollutedFile[] {
  const files: PollutedFile[] = [
    polluted('source', 1, () => undefined),
    { kind: 'no payload', weight: 15, text: '', clean: [] },
    polluted('no trailing line end', 184, (rows) => void (rows.at(-1)!.lineEnd = '')),
    polluted('double trailing line end', 5, (rows) => void (rows.at(-1)!.lineEnd = '\r\n\r\n')),
    polluted('no header', 470, (rows) => rows.slice(1), { clean: (rows) => valuesOf(rows.slice(1)) }),
    polluted('header of 2 rows', HEADER_ROWS, (rows) => [rows[0]!, ...rows], { clean: joinedHeader(2) }),
    polluted('header of 3 rows', HEADER_ROWS, (rows) => [rows[0]!, rows[0]!, ...rows], {
      clean: joinedHeader(3),
    }),
    polluted('preamble', 282, (rows) => [textRow('PREAMBLE'), textRow(''), ...rows]),
    ...[COLUMNS - 1, COLUMNS, COLUMNS + 1].map((columns) =>
      polluted(`another table of ${columns} columns`, MULTIPLE_TABLES, (rows) => [
        ...rows,
        ...anotherTable(columns),
      ]),
    ),
    polluted('header only', 3, (rows) => rows.slice(0, 1), { clean: (rows) => valuesOf(rows.slice(0, 1)) }),
    polluted('one row', 4, (rows) => rows.slice(0, 2), { clean: (rows) => valuesOf(rows.slice(0, 2)) }),
    polluted('CR', 7, withLineEnd('\r')),
    polluted('LF', 1_691, withLineEnd('\n')),
    polluted('tab', 4, withDelimiter('\t')),
    polluted('semicolon', 834, withDelimiter(';')),
    polluted('blank', 4, withDelimiter(' ')),
    polluted('comma and blank', 101, withDelimiter(', ')),
    polluted('single quotes', 11, () => undefined, { marks: { quote: "'", escape: '"' } }),
    polluted('backslash as escape', 1, () => undefined, { marks: { quote: '"', escape: '\\' } }),
    polluted('no escape', 7, () => undefined, { marks: { quote: '"', escape: '' } }),
  ];
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) files.push(...pollutedCell(row, column));
    files.push({
      ...polluted('blanks in a row', BLANKS_IN_ROW, (rows) => withDelimiter(' ')([rows[row]!])),
      row,
    });
  }
  return files;
}

function pollutedCell(row: number, column: number): PollutedFile[] {
  const more = polluted('one delimiter more', OTHER_CELLS, (rows) => {
    const { delimiters } = rows[row]!;
    delimiters[column] = `${delimiters[column]!},`;
  });
  const less = polluted('one delimiter less', OTHER_CELLS, (rows) => {
    rows[row]!.delimiters[column] = '';
  });
  const withQuote = (rows: Row[]) => {
    rows[row]!.cells[column]!.value = `"${rows[row]!.cells[column]!.value}`;
    return rows;
  };
  const quote: PollutedFile = {
    kind: 'one quote more',
    weight: EXTRA_QUOTE,
    text: writeWithRawQuote(row, column),
    clean: valuesOf(withQuote(sourceRows())),
  };
  return (column === 0 ? [more, quote] : [more, less, quote]).map((file) => ({ ...file, row }));
}

/** The quote that is too much is written as it is, without an escape. */
function writeWithRawQuote(row: number, column: number): string {
  const rows = sourceRows();
  const target = rows[row]!.cells[column]!;
  const mark = '\u0001';
  target.value = mark + target.value;
  return write(rows).replace(mark, '"');
}

/** How many of the ten measures a loaded table reaches: success, and precision, recall and F1 of header, rows, cells. */
export function scoreOf(clean: readonly string[][], loaded: readonly string[][] | undefined): number {
  if (!loaded) return 0;
  if (clean.length === 0) return 10;
  const joined = (rows: readonly string[][]) => rows.slice(1).map((cells) => cells.map(normalized).join(''));
  return (
    1 +
    measures(clean[0]!.map(normalized), (loaded[0] ?? []).map(normalized)) +
    measures(joined(clean), joined(loaded)) +
    measures(clean.flat(), loaded.flat())
  );
}

const normalized = (cell: string): string => cell.toLowerCase();

/** The sum of precision, recall and F1 of two multisets. */
function measures(expected: readonly string[], found: readonly string[]): number {
  if (expected.length === 0) return 3;
  const left = new Map<string, number>();
  for (const value of expected) left.set(value, (left.get(value) ?? 0) + 1);
  let common = 0;
  for (const value of found) {
    const count = left.get(value) ?? 0;
    if (count === 0) continue;
    left.set(value, count - 1);
    common++;
  }
  if (common === 0) return 0;
  const precision = common / expected.length;
  const recall = common / found.length;
  return precision + recall + (2 * precision * recall) / (precision + recall);
}
