import type { FieldType } from '@plinth/kernel/list-query';
import { validationCode, type ValidationRule } from '@plinth/kernel/problem';
import type { RowMessage } from './row-message';

/** A value of a row as the database takes it from JSON. */
export type FieldValue = string | number | boolean | null;

/** Why a cell cannot be read, or which rule it breaks. */
export class CellError {
  constructor(
    readonly kind: 'Conversion' | 'Validation',
    readonly code: string,
    /** A message that can be localized, or English that continues the name of the column: `must be round`. */
    readonly message: RowMessage | string,
  ) {}
}

/** The error of a cell that is not of the type of its field. */
export const notOfType = (type: string, message: RowMessage | string): CellError =>
  new CellError('Conversion', `Service:Conversion:${type}`, message);

/** The error of a cell that breaks a rule of its field. */
export const breaksRule = (rule: ValidationRule, message: RowMessage | string): CellError =>
  new CellError('Validation', validationCode(rule), message);

/** The types that a field can have. */
export type ExchangeFieldType =
  'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'date' | 'uuid' | 'enum';

/** What the declaration of a field of any type can set. */
export interface FieldOptions {
  column: string;
  header: string;
  description?: string;
  /** Import needs a column for it and a value in every row. */
  required?: boolean;
  /** Other names of exactly this field, such as those of older files. */
  aliases?: readonly string[];
  /** Words that mean this field, in any language. */
  synonyms?: readonly string[];
  /** Exported, never imported. */
  readOnly?: boolean;
  /** What an export shows instead of the column, as SQL. */
  exportAs?: string;
  /** Some of its values are secrets: it cannot be filtered, sorted or searched by, and errors of imports show none. */
  isSecret?: boolean;
}

/** A field of a definition: a column of its table, and how it is written in files. */
export interface ExchangeField extends FieldOptions {
  type: ExchangeFieldType;
  /** How queries compare it. */
  filterType: FieldType;
  /** Type of its column in Postgres. */
  sqlType: string;
  format?: string;
  /** For `enum`: the stored values by their names. */
  values?: Record<string, string>;
  /** An empty cell is a value like any other. */
  allowsEmpty?: boolean;
  /** The column holds the id of a row of another table; files name that row by its key. */
  relation?: Relation;
  parse(text: string): FieldValue | CellError;
}

/** The table that a field refers to, and the field that names its rows in files. It has `tenant_id` and `id`. */
export interface Relation {
  table: string;
  /** A value that several rows share cannot be imported. */
  key: ExchangeField;
}
