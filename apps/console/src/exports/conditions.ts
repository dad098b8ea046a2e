import type { ExportDefinition } from '../api/data-exchange';

export type ExportFilter = ExportDefinition['filters'][number];

/** One part of the sentence that says which rows are exported. */
export interface Condition {
  id: number;
  field: string;
  operator: string;
  /** As it was typed; nothing is asked while it is empty. */
  value: string;
}

/** The operators that read well in a sentence with one value, by type, the usual one first. */
const offered: Record<ExportFilter['type'], readonly string[]> = {
  string: ['contains', 'eq', 'startsWith', 'endsWith'],
  integer: ['gte', 'lte', 'eq'],
  number: ['gte', 'lte', 'eq'],
  boolean: ['eq'],
  timestamp: ['gte', 'lt'],
  uuid: ['eq'],
  enum: ['eq'],
};

/** What may follow the name of a field; a field and an operator make one condition at most. */
export function operatorsOf(
  { field, type, operators }: ExportFilter,
  conditions: readonly Condition[],
  own?: Condition,
): string[] {
  const taken = conditions.filter((other) => other.id !== own?.id && other.field === field);
  return offered[type].filter(
    (operator) => operators.includes(operator) && !taken.some((other) => other.operator === operator),
  );
}

/** Whether a text can be the value of a condition. */
export function isValueOf({ type }: ExportFilter, value: string): boolean {
  const text = value.trim();
  if (text === '') return false;
  if (type === 'integer') return /^-?\d{1,15}$/.test(text);
  if (type === 'number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text);
  if (type === 'timestamp') return !Number.isNaN(Date.parse(text));
  if (type === 'uuid') return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
  return true;
}

/** The conditions as an export asks for them; those without a value ask for nothing. */
export function toFilter(
  conditions: readonly Condition[],
  filters: readonly ExportFilter[],
): Record<string, string> {
  const complete = conditions.filter(({ field, value }) => {
    const filter = filters.find((one) => one.field === field);
    return filter !== undefined && isValueOf(filter, value);
  });
  return Object.fromEntries(
    complete.map(({ field, operator, value }) => [`${field}.${operator}`, value.trim()]),
  );
}

/** The conditions that a filter says; what they cannot say is left out. */
export function toConditions(
  filter: Readonly<Record<string, string>>,
  filters: readonly ExportFilter[],
): Condition[] {
  return Object.entries(filter).flatMap(([key, value], index) => {
    const dot = key.lastIndexOf('.');
    const [field, operator] = [key.slice(0, dot), key.slice(dot + 1)];
    const known = filters.find((one) => one.field === field);
    if (!known || !offered[known.type].includes(operator)) return [];
    return [{ id: index + 1, field, operator, value }];
  });
}
