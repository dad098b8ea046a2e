import { escapeIdentifier } from 'pg';
import type { ExchangeDefinition } from '../definition';
import type { ExchangeField, FieldValue } from '../field';

const NUMBERS: readonly ExchangeField['type'][] = ['integer', 'number'];

/** The parts of the key of the row `t` as a JSON array, in SQL. Numbers are texts there, since reading them would round them. */
export const keyPartsSql = (
  { key, fields }: ExchangeDefinition,
  properties: readonly string[] = key,
): string => {
  const parts = properties.map((property) => {
    const { column, type } = fields[property]!;
    return `t.${escapeIdentifier(column)}${NUMBERS.includes(type) ? '::text' : ''}`;
  });
  return `jsonb_build_array(${parts.join(', ')})`;
};

/** The same as cells are read: an integer that is longer than those of files stays a text. */
export const readKeyParts = (
  { key, fields }: ExchangeDefinition,
  parts: readonly FieldValue[],
  properties: readonly string[] = key,
): FieldValue[] =>
  parts.map((part, at) => {
    const isInteger = part !== null && fields[properties[at]!]!.type === 'integer';
    return isInteger && Number.isSafeInteger(Number(part)) ? Number(part) : part;
  });
