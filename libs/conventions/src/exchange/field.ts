import type { FieldType } from '@plinth/kernel/list-query';
import { validationCode, type ValidationRule } from '@plinth/kernel/problem';
import type { RowText } from './row-texts';

/** A value of a row as the database takes it from JSON. */
export type FieldValue = string | number | boolean | null;

/** What a cell is not, or which rule it breaks. */
export class CellFault {
  constructor(
    readonly kind: 'Conversion' | 'Validation',
    readonly code: string,
    /** A text that every culture has, or English that goes on after the name of the column: `must be round`. */
    readonly says: RowText | string,
  ) {}
}

export const notOfType = (type: string, says: RowText | string): CellFault =>
  new CellFault('Conversion', `Service:Conversion:${type}`, says);

export const breaksRule = (rule: ValidationRule, says: RowText | string): CellFault =>
  new CellFault('Validation', validationCode(rule), says);

export type ExchangeFieldType =
  'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'date' | 'uuid' | 'enum';

export interface FieldOptions {
  column: string;
  header: string;
  description?: string;
  /** Import needs a column for it and a value in every row. */
  required?: boolean;
  /** Other names that are exactly this field, such as those of older files. */
  aliases?: readonly string[];
  /** Words that mean this field, in any language. */
  synonyms?: readonly string[];
  /** Exported, never imported. */
  readOnly?: boolean;
  /** What an export shows instead of the column, as SQL. */
  exportAs?: string;
  /** Cannot be filtered, sorted or searched by. */
  isSecret?: boolean;
}

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
  parse(text: string): FieldValue | CellFault;
}

/** The table that a field points into, and by what people name its rows. It has `tenant_id` and `id`, as every table. */
export interface Relation {
  table: string;
  /** The field of that table that files name its rows by. What several rows share cannot be imported. */
  key: ExchangeField;
}
