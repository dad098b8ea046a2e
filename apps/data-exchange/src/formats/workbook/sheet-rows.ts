import { UnreadableFile } from '../unreadable-file.ts';
import { isoDateText, numberText, unescapeText } from './cell-text.ts';
import type { NumberKind } from './cell-styles.ts';
import type { SharedStrings } from './shared-strings.ts';
import {
  attributeOf,
  TEXT_LENGTH_MAX,
  tooLong,
  type XmlAttributes,
  type XmlListener,
} from './xml-scanner.ts';

/** The third part is which of the cells hold errors of formulas, such as `#N/A`, in their order, if there are any. */
export type SheetRow = [number: number, cells: string[], errorCells?: number[]];

export interface SheetContext {
  strings: Pick<SharedStrings, 'get'>;
  kinds: readonly NumberKind[];
  isFrom1904: boolean;
  /** Cells beyond it count as one more cell and are discarded. */
  columnsMax: number;
}

const ROWS_MAX = 1_048_576;
const COLUMNS_OF_SHEET_MAX = 16_384;
/** As of a record of a text file: many cells may share a long text. */
const ROW_LENGTH_MAX = 1024 * 1024;
/** A small file may say the same long text in every row: a thousand characters in each of as many rows as a sheet may have. */
const SHEET_LENGTH_MAX = 1024 * 1024 * 1024;
/** Each cell, also an empty one, takes memory and work besides its characters. */
export const CELL_LENGTH = 3;

/** Converts the XML of a sheet to rows of texts, without empty rows. */
export function sheetRows(context: SheetContext, take: (row: SheetRow) => void): XmlListener {
  let number = 0;
  let cells: string[] = [];
  let errorCells: number[] = [];
  let length = 0;
  let sheetLength = 0;
  let column = -1;
  let isInRow = false;
  let isInCell = false;
  let type = '';
  let style = 0;
  let value = '';
  let isValue = false;
  let isPhonetic = false;

  const startRow = (attributes: XmlAttributes): void => {
    const named = Number(attributeOf(attributes, 'r') ?? number + 1);
    if (isInRow || !Number.isInteger(named) || named <= number || named > ROWS_MAX) throw damaged();
    isInRow = true;
    number = named;
    cells = [];
    errorCells = [];
    length = 0;
    column = -1;
  };
  const startCell = (attributes: XmlAttributes): void => {
    const reference = attributeOf(attributes, 'r');
    const next = reference === undefined ? column + 1 : columnOf(reference);
    // Spreadsheets refuse a row that names a cell twice too, or goes back.
    if (isInCell || next <= column || next >= COLUMNS_OF_SHEET_MAX) throw damaged();
    isInCell = true;
    column = next;
    type = attributeOf(attributes, 't') ?? 'n';
    style = Number(attributeOf(attributes, 's') ?? 0);
    value = '';
  };
  const endCell = (): void => {
    isInCell = false;
    const text = value && textOf(value, type, context.kinds[style] ?? 'number', context);
    if (text === '') return;
    length += text.length;
    if (length > ROW_LENGTH_MAX)
      throw new UnreadableFile(`A row of the workbook has more than ${ROW_LENGTH_MAX} characters.`);
    const place = Math.min(column, context.columnsMax);
    while (cells.length < place) cells.push('');
    cells[place] = text;
    if (type === 'e' && column < context.columnsMax) errorCells.push(column);
  };
  const endRow = (): void => {
    isInRow = false;
    sheetLength += length + cells.length * CELL_LENGTH;
    if (sheetLength > SHEET_LENGTH_MAX)
      throw new UnreadableFile(
        `The sheet has more than ${SHEET_LENGTH_MAX} characters, of which each cell counts as ${CELL_LENGTH} more.`,
      );
    if (cells.length > 0) take(errorCells.length > 0 ? [number, cells, errorCells] : [number, cells]);
  };

  return {
    open(name, attributes) {
      if (name === 'c' && isInRow) startCell(attributes);
      else if (name === 'v' || name === 't') isValue = !isPhonetic;
      else if (name === 'row') startRow(attributes);
      else if (name === 'rPh') isPhonetic = true;
    },
    text(piece) {
      if (!isValue) return;
      value += piece;
      if (value.length > TEXT_LENGTH_MAX) throw tooLong();
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c' && isInCell) endCell();
      else if (name === 'row') endRow();
    },
  };
}

/** `B7` is 1, counted from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length && at < 4; at++) {
    const code = reference.charCodeAt(at) & 0xdf;
    if (code < 65 || code > 90) break;
    column = column * 26 + code - 64;
  }
  return column - 1;
}

function textOf(
  value: string,
  type: string,
  kind: NumberKind,
  { strings, isFrom1904 }: SheetContext,
): string {
  switch (type) {
    case 's':
      return strings.get(Number(value));
    case 'b':
      return value === '1' || value === 'true' ? 'true' : 'false';
    case 'str':
    case 'inlineStr':
      return unescapeText(value);
    case 'd':
      return isoDateText(value);
    case 'e':
      return value;
    default:
      return numberText(value, kind, isFrom1904);
  }
}

const damaged = () => new UnreadableFile('The workbook is damaged.');
