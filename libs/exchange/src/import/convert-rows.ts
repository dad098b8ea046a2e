import { validationCode } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import { ID_PROPERTY, type ExchangeDefinition, type ImportRow, type WrittenRow } from '../definition';
import { breaksRule, CellError, type ExchangeField, type FieldValue } from '../field';
import { errorMessage, SECRET, shownValue, type RowError } from '../row-error';
import { rowMessage, type RowMessage } from '../row-message';
import { toPlainCell, type CellFormat } from './cell-format';
import { rowsInSteps } from '../in-turns';
import { plainNumber } from './plain-number';

/** A row as it arrives: its number and its cells as text. */
export type RawRow = [rowNumber: number, ...cells: string[]];

/** A row whose cells are values. */
export interface ConvertedRow extends ImportRow, Pick<WrittenRow, 'formerKey'> {
  id: string | null;
  /** The row's key as one text; undefined where a part of it cannot be read, or is that of a row which was not found. */
  key: string | undefined;
  /** The hash of the key, once somebody has asked for it. */
  keyHash?: string;
}

/** The rows of a batch after their cells were read. */
export interface Conversion {
  rows: ConvertedRow[];
  errors: RowError[];
  /** Rows with errors, as far as they could be read. */
  invalidRows: ConvertedRow[];
}

/** The columns of the file, followed by those of the key: a key column that the file lacks is empty in every row. */
export const columnsWithKey = (definition: ExchangeDefinition, columns: readonly string[]): string[] => [
  ...columns,
  ...definition.key.filter((property) => !columns.includes(property)),
];

/** A row whose key could be read: no later row may have the same key, even if this row has other errors. */
export const hasKey = (row: ConvertedRow): row is ConvertedRow & { key: string } => row.key !== undefined;

/** The key of a row, the same text for the same key. No value contains the NUL that separates its parts. */
export function keyText({ key, fields }: ExchangeDefinition, values: readonly (FieldValue | Date)[]): string {
  let text = '';
  for (let at = 0; at < values.length; at++) text += `${partOfKey(fields[key[at]!]!, values[at]!)}\0`;
  return text;
}

/** The key of a row as one text, as far as all of it is known. */
export const keyOfRow = (definition: ExchangeDefinition, values: ImportRow['values']): string | undefined =>
  definition.key.every((property) => property in values)
    ? keyText(
        definition,
        definition.key.map((property) => values[property]!),
      )
    : undefined;

/** A part of a key, the same text for the same value. */
export const partOfKey = ({ type }: ExchangeField, value: FieldValue | Date): string => {
  if (value === null) return '';
  if (type === 'number') return `=${plainNumber(String(value))}`;
  return `=${value instanceof Date ? value.toISOString() : String(value)}`;
};

/**
 * Makes a function that converts the cells of a batch into typed rows and returns all errors of the others.
 * @param fileColumns those of the file
 */
export function rowConverter(
  definition: ExchangeDefinition,
  fileColumns: readonly string[],
  format: CellFormat = {},
) {
  const columns = columnsWithKey(definition, fileColumns);
  const unclear = { ...format, hasOtherDecimals: true };
  const fields = columns.map((property, index) => {
    const field = definition.fields[property];
    const isUnclear = format.unclearColumns?.includes(index) ?? false;
    return field && remembering(readAs(field, isUnclear ? unclear : format));
  });
  const idAt = columns.indexOf(ID_PROPERTY);
  const hasKeyColumns = columns.length === fileColumns.length;

  const convertRow = (raw: RawRow, result: Conversion): void => {
    const [rowNumber] = raw;
    const values: Record<string, FieldValue> = {};
    const errors: RowError[] = [];
    for (let index = 0; index < columns.length; index++) {
      const field = fields[index];
      if (!field) continue;
      const property = columns[index]!;
      const text = (raw[index + 1] as string | undefined) ?? '';
      const value = readCell(field, text);
      if (value instanceof CellError) {
        const { kind, code, message } = value;
        const error = {
          rowNumber,
          kind,
          column: property,
          value: field.isSecret ? SECRET : shownValue(text),
          code,
        };
        errors.push({ ...error, ...messageOf(message, field.header) });
      } else values[property] = value;
    }
    const idText = idAt < 0 ? '' : ((raw[idAt + 1] as string | undefined) ?? '');
    const id = readId(idText, rowNumber, errors);
    // What a file has no column for, a row with an id has in the table.
    const key = hasKeyColumns || idText.trim() === '' ? keyOfRow(definition, values) : undefined;
    result.errors.push(...errors);
    (errors.length === 0 ? result.rows : result.invalidRows).push({ rowNumber, values, id, key });
  };

  return (rows: readonly RawRow[]): Conversion => {
    const result: Conversion = { rows: [], errors: [], invalidRows: [] };
    for (const row of rows) convertRow(row, result);
    return result;
  };
}

/** Converts the rows of a batch in steps. */
export function* convertInSteps(
  convert: (rows: readonly RawRow[]) => Conversion,
  rows: readonly RawRow[],
): Generator<void, Conversion> {
  const result: Conversion = { rows: [], errors: [], invalidRows: [] };
  let converted = 0;
  for (const part of rowsInSteps(rows)) {
    const next = convert(part);
    result.rows.push(...next.rows);
    result.invalidRows.push(...next.invalidRows);
    for (const error of next.errors) result.errors.push(error);
    converted += part.length;
    if (converted < rows.length) yield;
  }
  return result;
}

function readCell(field: ExchangeField, text: string): FieldValue | CellError {
  if (field.isSecret && text.trim() === SECRET) return leftOut;
  if (text !== '' || field.allowsEmpty) {
    if (field.required && !field.allowsEmpty && text.trim() === '') return missing;
    const value = field.parse(text);
    if (!(value instanceof CellError) || !saysNothing(field, text.trim())) return value;
  }
  return field.required ? missing : null;
}

/** Correction files have it for values that are no secrets, too: none of them may become the value. */
const leftOut = breaksRule('Format', rowMessage('leftOut', SECRET));

/** What databases and people write where there is nothing. */
export const NOTHING = /^(?:null|n\/a|\\n)$/i;
const DASH = /^[-–—]$/;

/**
 * Whether a cell that its field cannot read says that there is nothing. Texts can be called `Null`, and so can what a row
 * refers to; among numbers a dash may be a zero, as accountants write it.
 */
const saysNothing = ({ type, relation }: ExchangeField, text: string): boolean =>
  type !== 'string' &&
  relation === undefined &&
  (NOTHING.test(text) || ((type === 'date' || type === 'timestamp') && DASH.test(text)));

const missing = new CellError('Validation', validationCode('NotEmpty'), rowMessage('notEmpty'));

/** The field as it reads the cells of a file with its own format of numbers and dates. */
function readAs(field: ExchangeField, format: CellFormat): ExchangeField {
  const toPlain = toPlainCell(field.type, format);
  if (!toPlain) return field;
  const parse = (text: string) => {
    const plain = toPlain(text);
    return plain instanceof CellError ? plain : field.parse(plain);
  };
  return { ...field, parse };
}

/** How many texts of a column are remembered, and of which length. */
const REMEMBERED_MAX = 1_000;
const REMEMBERED_LENGTH_MAX = 64;

/**
 * The field as it reads each text once, since most columns repeat few of them: words, days, amounts. A column whose
 * texts are rarely repeated, such as a key, is read as before.
 */
function remembering(field: ExchangeField): ExchangeField {
  const read = new Map<string, FieldValue | CellError>();
  let repeated = 0;
  let isUseful = true;
  const parse = (text: string) => {
    if (!isUseful || text.length > REMEMBERED_LENGTH_MAX) return field.parse(text);
    const known = read.get(text);
    if (known !== undefined) {
      repeated++;
      return known;
    }
    const value = field.parse(text);
    if (read.size < REMEMBERED_MAX) read.set(text, value);
    else if (repeated-- <= REMEMBERED_MAX) {
      isUseful = false;
      read.clear();
    }
    return value;
  };
  return { ...field, parse };
}

const messageOf = (message: RowMessage | string, header: string): Pick<RowError, 'message' | 'text'> =>
  typeof message === 'string' ? { message: `${header} ${message}.` } : errorMessage(message, header);

function readId(text: string, rowNumber: number, errors: RowError[]): string | null {
  const id = text.trim();
  if (id === '') return null;
  if (isUuid(id)) return id.toLowerCase();
  errors.push({
    rowNumber,
    kind: 'Identity',
    column: ID_PROPERTY,
    value: shownValue(text),
    code: 'Service:Identity:Id',
    ...errorMessage(rowMessage('id'), 'Id'),
  });
  return null;
}
