import { validationCode } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import type { ExchangeDefinition, ImportRow, RowFault } from './definition';
import { CellFault, type ExchangeField, type FieldValue } from './field';
import { toPlainCell, type CellFormat } from './local-cells';
import { inEnglish, rowText, type RowText } from './row-texts';

/** The column by which an export marks rows and an import finds them again. */
export const ID_PROPERTY = 'id';

/** A row as it arrives: its number and its cells as text. */
export type RawRow = [rowNumber: number, ...cells: string[]];

export interface ConvertedRow extends ImportRow {
  id: string | null;
  /** The row's key as one text; undefined where a part of it cannot be read. */
  key: string | undefined;
}

export interface Conversion {
  rows: ConvertedRow[];
  faults: RowFault[];
  /** Rows with faults, as far as they could be read. */
  faulty: ConvertedRow[];
}

/** Where its key could be read, no later row may have it, whatever else is wrong with a row. */
export const hasKey = (row: ConvertedRow): row is ConvertedRow & { key: string } => row.key !== undefined;

const SHOWN_VALUE_LENGTH_MAX = 200;

/** The beginning of a value, in characters that can be stored whatever the file holds. */
export function shownValue(text: string): string {
  const shown =
    text.length <= SHOWN_VALUE_LENGTH_MAX ? text : `${text.slice(0, SHOWN_VALUE_LENGTH_MAX - 1)}…`;
  return shown.replaceAll('\0', '\u2400').toWellFormed();
}

/** The key of a row, the same text for the same key. No value holds the NUL that keeps its parts apart. */
export function keyText(values: readonly (FieldValue | Date)[]): string {
  let text = '';
  for (const value of values) text += `${partOfKey(value)}\0`;
  return text;
}

const partOfKey = (value: FieldValue | Date): string => {
  if (typeof value === 'string') return `=${value}`;
  if (value === null) return '';
  return `=${value instanceof Date ? value.toISOString() : String(value)}`;
};

/** Makes a function that turns the cells of a batch into typed rows, and says everything that is wrong with the others. */
export function rowConverter(
  definition: ExchangeDefinition,
  columns: readonly string[],
  format: CellFormat = {},
) {
  const fields = columns.map((property) => {
    const field = definition.fields[property];
    return field && readAs(field, format);
  });
  const idAt = columns.indexOf(ID_PROPERTY);

  const convertRow = (raw: RawRow, result: Conversion): void => {
    const [rowNumber] = raw;
    const values: Record<string, FieldValue> = {};
    const faults: RowFault[] = [];
    for (let index = 0; index < columns.length; index++) {
      const field = fields[index];
      if (!field) continue;
      const property = columns[index]!;
      const text = (raw[index + 1] as string | undefined) ?? '';
      const value = readCell(field, text);
      if (value instanceof CellFault) {
        const { kind, code, says } = value;
        const fault = { rowNumber, kind, column: property, value: shownValue(text), code };
        faults.push({ ...fault, ...spoken(says, field.header) });
      } else values[property] = value;
    }
    const id = idAt < 0 ? null : readId((raw[idAt + 1] as string | undefined) ?? '', rowNumber, faults);
    const isKeyRead = definition.key.every((property) => property in values);
    const key = isKeyRead ? keyText(definition.key.map((property) => values[property]!)) : undefined;
    result.faults.push(...faults);
    (faults.length === 0 ? result.rows : result.faulty).push({ rowNumber, values, id, key });
  };

  return (rows: readonly RawRow[]): Conversion => {
    const result: Conversion = { rows: [], faults: [], faulty: [] };
    for (const row of rows) convertRow(row, result);
    return result;
  };
}

function readCell(field: ExchangeField, text: string): FieldValue | CellFault {
  if (text !== '' || field.allowsEmpty) {
    if (field.required && !field.allowsEmpty && text.trim() === '') return missing;
    return field.parse(text);
  }
  return field.required ? missing : null;
}

const missing = new CellFault('Validation', validationCode('NotEmpty'), rowText('notEmpty'));

/** The field as it reads the cells of a file that writes numbers and dates in its own way. */
function readAs(field: ExchangeField, format: CellFormat): ExchangeField {
  const toPlain = toPlainCell(field.type, format);
  if (!toPlain) return field;
  const parse = (text: string) => {
    const plain = toPlain(text);
    return plain instanceof CellFault ? plain : field.parse(plain);
  };
  return { ...field, parse };
}

const spoken = (says: RowText | string, header: string): Pick<RowFault, 'message' | 'text'> =>
  typeof says === 'string' ? { message: `${header} ${says}.` } : said(says, header);

/** A text as a fault carries it: in English, and so that it can be said in other cultures. */
export const said = (text: RowText, column = ''): Required<Pick<RowFault, 'message' | 'text'>> => ({
  message: inEnglish(text, column),
  text,
});

function readId(text: string, rowNumber: number, faults: RowFault[]): string | null {
  const id = text.trim();
  if (id === '') return null;
  if (isUuid(id)) return id.toLowerCase();
  faults.push({
    rowNumber,
    kind: 'Identity',
    column: ID_PROPERTY,
    value: shownValue(text),
    code: 'Service:Identity:Id',
    ...said(rowText('id'), 'Id'),
  });
  return null;
}
