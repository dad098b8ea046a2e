import { createHash } from 'node:crypto';
import type { ImportColumnMapping } from '@plinth/contracts/data-exchange/shapes';
import { invalid, type ValidationRule } from '@plinth/kernel/problem';
import type { z } from 'zod';
import type { DefinitionField } from './definition';
import { columnsMissing } from './problems';

export type ColumnMapping = z.output<typeof ImportColumnMapping>;

const FUZZY_MIN = 0.8;
const SYNONYM_MIN = 0.9;

/** Case, accents, separators and plural brackets make no difference to what a column is called. */
export const normalizeName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** The same for files with the same columns, whatever their case and order. */
export const headerHash = (headers: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(headers.map((header) => header.trim().toLowerCase()).sort()))
    .digest('base64url');

/**
 * Suggests which column is which property (silences, row 37). Surer kinds of likeness choose first, each property is
 * suggested once, and a column that nothing fits is listed without one.
 */
export function suggestMappings(
  headers: readonly string[],
  fields: readonly DefinitionField[],
  saved: readonly Pick<ColumnMapping, 'sourceColumn' | 'targetProperty'>[] = [],
): ColumnMapping[] {
  const suggestions = new Map<string, ColumnMapping>();
  const taken = new Set<string>();
  const suggest = (sourceColumn: string, targetProperty: string, confidence: ColumnMapping['confidence']) => {
    if (suggestions.has(sourceColumn) || taken.has(targetProperty)) return;
    suggestions.set(sourceColumn, { sourceColumn, targetProperty, confidence });
    taken.add(targetProperty);
  };

  for (const header of headers) {
    const known = saved.find(
      ({ sourceColumn }) => sourceColumn.trim().toLowerCase() === header.trim().toLowerCase(),
    );
    const isStillThere = fields.some(({ propertyPath }) => propertyPath === known?.targetProperty);
    if (known?.targetProperty && isStillThere) suggest(header, known.targetProperty, 'Saved');
  }
  const named = fields.map(namesOf);
  const open = headers.map((header) => ({ header, name: normalizeName(header) }));
  const pairs = open.flatMap(({ header, name }) => named.map((field) => ({ header, name, field })));
  for (const { header, name, field } of pairs) {
    if (field.exact.has(name)) suggest(header, field.propertyPath, 'Exact');
  }
  const alike = pairs
    .map(({ header, name, field }) => ({ header, field, likeness: likenessTo(name, field.exact) }))
    .filter(({ likeness }) => likeness >= FUZZY_MIN)
    .sort((left, right) => right.likeness - left.likeness);
  for (const { header, field } of alike) suggest(header, field.propertyPath, 'Fuzzy');
  for (const { header, name, field } of pairs) {
    if (meansSame(name, field.synonyms)) suggest(header, field.propertyPath, 'Semantic');
  }
  return headers.map(
    (header) =>
      suggestions.get(header) ?? {
        sourceColumn: header,
        targetProperty: null,
        confidence: 'Manual' as const,
      },
  );
}

/** What a field is called, as names are compared. */
const namesOf = ({ propertyPath, header, aliases, synonyms }: DefinitionField) => ({
  propertyPath,
  exact: new Set([propertyPath, header, ...aliases].map(normalizeName)),
  synonyms: new Set(synonyms.map(normalizeName)),
});

const meansSame = (name: string, synonyms: ReadonlySet<string>): boolean =>
  name !== '' &&
  (synonyms.has(name) ||
    [...synonyms].some((word) => mayBeAlike(name, word, SYNONYM_MIN) && likeness(name, word) >= SYNONYM_MIN));

const likenessTo = (name: string, names: ReadonlySet<string>): number =>
  Math.max(
    0,
    ...[...names]
      .filter((candidate) => mayBeAlike(name, candidate, FUZZY_MIN))
      .map((candidate) => likeness(name, candidate)),
  );

/** Texts of too different lengths need no look at their letters. */
const mayBeAlike = (left: string, right: string, min: number): boolean =>
  Math.abs(left.length - right.length) <= (1 - min) * Math.max(left.length, right.length);

/** 1 for equal texts, 0 for texts with nothing in common: the edit distance, relative to the longer one. */
export function likeness(left: string, right: string): number {
  const longest = Math.max(left.length, right.length);
  if (longest === 0 || longest > 100) return left === right && longest > 0 ? 1 : 0;
  return 1 - editDistance(left, right) / longest;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[right.length]!;
}

interface ConfirmedMapping {
  sourceColumn: string;
  targetProperty?: string | null | undefined;
  confidence?: ColumnMapping['confidence'] | null | undefined;
}

/**
 * Checks what somebody confirmed; columns left out are not imported.
 * @throws Problem `invalid`: unknown column or property, one property twice, a required property missing.
 */
export function confirmMappings(
  confirmed: readonly ConfirmedMapping[],
  headers: readonly string[],
  fields: readonly DefinitionField[],
): ColumnMapping[] {
  const errors: Record<string, ValidationRule[]> = {};
  const reasons: string[] = [];
  const report = (path: string, rule: ValidationRule, reason: string) => {
    (errors[path] ??= []).push(rule);
    reasons.push(reason);
  };
  const columns = new Set<string>();
  const targets = new Set<string>();
  for (const [index, { sourceColumn, targetProperty }] of confirmed.entries()) {
    const path = `mappings[${index}]`;
    if (!headers.includes(sourceColumn)) {
      report(`${path}.sourceColumn`, 'Enum', `The file has no column "${sourceColumn}".`);
    }
    if (columns.has(sourceColumn))
      report(`${path}.sourceColumn`, 'Unique', `The column "${sourceColumn}" is listed twice.`);
    columns.add(sourceColumn);
    if (!targetProperty) continue;
    if (!fields.some(({ propertyPath }) => propertyPath === targetProperty)) {
      report(`${path}.targetProperty`, 'Enum', `There is no property "${targetProperty}".`);
    }
    if (targets.has(targetProperty)) {
      report(`${path}.targetProperty`, 'Unique', `"${targetProperty}" has two columns.`);
    }
    targets.add(targetProperty);
  }
  for (const { propertyPath, required, header } of fields) {
    if (required && !targets.has(propertyPath)) {
      report('mappings', 'NotEmpty', `The required property "${propertyPath}" (${header}) has no column.`);
    }
  }
  if (reasons.length > 0) throw invalid(dedupe(errors), reasons.join(' '));
  return confirmed.map(({ sourceColumn, targetProperty, confidence }) => ({
    sourceColumn,
    targetProperty: targetProperty ?? null,
    confidence: confidence ?? 'Manual',
  }));
}

export interface MappedColumn {
  sourceColumn: string;
  targetProperty: string;
  position: number;
}

/**
 * Where the mapped columns stand in a file. A sheet that is named later than the mappings may have its columns in
 * another order, or other columns.
 * @throws Problem `invalid`: a mapped column is missing.
 */
export function mappedColumns(
  mappings: readonly Pick<ColumnMapping, 'sourceColumn' | 'targetProperty'>[],
  headers: readonly string[],
): MappedColumn[] {
  const mapped = mappings.flatMap(({ sourceColumn, targetProperty }) =>
    targetProperty === null
      ? []
      : [{ sourceColumn, targetProperty, position: headers.indexOf(sourceColumn) }],
  );
  const missing = mapped.filter(({ position }) => position < 0);
  if (missing.length > 0) throw columnsMissing(missing.map(({ sourceColumn }) => sourceColumn));
  return mapped;
}

const dedupe = (errors: Record<string, ValidationRule[]>): Record<string, ValidationRule[]> =>
  Object.fromEntries(Object.entries(errors).map(([path, rules]) => [path, [...new Set(rules)]]));
