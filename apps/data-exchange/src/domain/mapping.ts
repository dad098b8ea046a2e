import { createHash } from 'node:crypto';
import { ERRORS_COLUMN } from '@plinth/contracts/data-exchange/correction-file';
import type { ImportColumnMapping } from '@plinth/contracts/data-exchange/shapes';
import { plain } from '@plinth/kernel/composed';
import { invalid, type ValidationRule } from '@plinth/kernel/problem';
import type { z } from 'zod';
import type { DefinitionField } from './definition';

export type ColumnMapping = z.output<typeof ImportColumnMapping>;

const FUZZY_MIN = 0.8;
const SYNONYM_MIN = 0.9;
/** Columns and properties that are compared in one step. */
const PAIRS_PER_STEP = 64;
/** Columns whose names are read in one step. */
const HEADERS_PER_STEP = 16;
/** What is wrong with mappings beyond that is not looked for: whoever sees so much of it knows that all is wrong. */
const MAPPING_ERRORS_MAX = 100;

/** Case, accents, separators and plural brackets make no difference to what a column is called. */
export const normalizeName = (name: string): string => plain(name).replace(/[^\p{L}\p{N}]+/gu, '');

/** The same for files with the same columns in any case and order, and for their correction files. */
export const headerHash = (headers: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(columnsOf(headers).sort()))
    .digest('base64url');

const columnsOf = (headers: readonly string[]): string[] =>
  headers.filter((header) => header !== ERRORS_COLUMN).map(plainName);

const plainName = (header: string): string => header.trim().toLowerCase();

/**
 * Suggests the property of each column. Surer kinds of similarity choose first, each property is suggested once, and a
 * column without a similar property is listed without one. In steps: a file may have a thousand columns, each of which is
 * compared with all names of all properties.
 */
export function* suggestMappings(
  headers: readonly string[],
  fields: readonly DefinitionField[],
  saved: readonly Pick<ColumnMapping, 'sourceColumn' | 'targetProperty'>[] = [],
): Generator<void, ColumnMapping[]> {
  const suggestions = new Map<string, ColumnMapping>();
  const taken = new Set<string>();
  const suggest = (sourceColumn: string, targetProperty: string, confidence: ColumnMapping['confidence']) => {
    if (suggestions.has(sourceColumn) || taken.has(targetProperty)) return;
    suggestions.set(sourceColumn, { sourceColumn, targetProperty, confidence });
    taken.add(targetProperty);
  };
  const isOpen = (header: string, { propertyPath }: Pick<DefinitionField, 'propertyPath'>): boolean =>
    !suggestions.has(header) && !taken.has(propertyPath);

  // A file may have a thousand columns, and so may what was saved for it.
  const savedByName = new Map(
    saved.toReversed().map((mapping) => [plainName(mapping.sourceColumn), mapping] as const),
  );
  yield;
  const properties = new Set(fields.map(({ propertyPath }) => propertyPath));
  for (const header of headers) {
    const known = savedByName.get(plainName(header))?.targetProperty;
    if (known && properties.has(known)) suggest(header, known, 'Saved');
  }
  const named = fields.map(namesOf);
  const pairs: { header: string; name: string; field: (typeof named)[number] }[] = [];
  for (const [at, header] of headers.entries()) {
    if (at % HEADERS_PER_STEP === 0) yield;
    const name = normalizeName(header);
    for (const field of named) {
      if (field.exact.has(name)) suggest(header, field.propertyPath, 'Exact');
      pairs.push({ header, name, field });
    }
  }
  yield;
  const partsOf = headerParts(headers);
  for (const [at, header] of headers.entries()) {
    if (at % HEADERS_PER_STEP === 0) yield;
    for (const part of partsOf(header).map(normalizeName)) {
      const field = named.find(({ exact, synonyms }) => exact.has(part) || synonyms.has(part));
      if (part !== '' && field) suggest(header, field.propertyPath, 'Fuzzy');
    }
  }
  const similar: { header: string; field: (typeof named)[number]; similarity: number }[] = [];
  for (const [at, { header, name, field }] of pairs.entries()) {
    if (at % PAIRS_PER_STEP === 0) yield;
    if (!isOpen(header, field)) continue;
    const similarity = bestSimilarity(name, field.exact);
    if (similarity >= FUZZY_MIN) similar.push({ header, field, similarity });
  }
  similar.sort((left, right) => right.similarity - left.similarity);
  for (const { header, field } of similar) suggest(header, field.propertyPath, 'Fuzzy');
  for (const [at, { header, name, field }] of pairs.entries()) {
    if (at % PAIRS_PER_STEP === 0) yield;
    if (isOpen(header, field) && meansSame(name, field.synonyms))
      suggest(header, field.propertyPath, 'Semantic');
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

/** The words that a group of columns may have above it; a header may have many more, each of which would be an ending. */
const BEGINNING_WORDS_MAX = 3;

/**
 * What else a column may be called: its name without what stands in brackets, such as a unit, and without what several
 * columns begin with, as where a header has two rows.
 */
function headerParts(headers: readonly string[]): (header: string) => string[] {
  const beginnings = new Map<string, number>();
  const wordsOf = (header: string) => header.trim().split(/\s+/);
  const endings = (header: string) => {
    const words = wordsOf(header);
    return words
      .slice(1, 1 + BEGINNING_WORDS_MAX)
      .map((_, at) => [words.slice(0, at + 1), words.slice(at + 1)] as const);
  };
  for (const header of headers)
    for (const [before] of endings(header)) {
      const beginning = before.join(' ');
      beginnings.set(beginning, (beginnings.get(beginning) ?? 0) + 1);
    }
  return (header) => {
    const short = header.replace(/\([^()]*\)|\[[^[\]]*\]/g, ' ').trim();
    const below = endings(header).filter(([before]) => beginnings.get(before.join(' '))! > 1);
    return [...(short === header.trim() ? [] : [short]), ...below.map(([, after]) => after.join(' '))];
  };
}

/** The names of a field in the form in which names are compared. */
const namesOf = ({ propertyPath, header, aliases, synonyms }: DefinitionField) => ({
  propertyPath,
  exact: new Set([propertyPath, header, ...aliases].map(normalizeName)),
  synonyms: new Set(synonyms.map(normalizeName)),
});

const meansSame = (name: string, synonyms: ReadonlySet<string>): boolean =>
  name !== '' &&
  (synonyms.has(name) ||
    [...synonyms].some(
      (word) => canBeSimilar(name, word, SYNONYM_MIN) && similarity(name, word) >= SYNONYM_MIN,
    ));

const bestSimilarity = (name: string, names: ReadonlySet<string>): number =>
  Math.max(
    0,
    ...[...names]
      .filter((candidate) => canBeSimilar(name, candidate, FUZZY_MIN))
      .map((candidate) => similarity(name, candidate)),
  );

/** Texts of too different lengths cannot be similar. */
const canBeSimilar = (left: string, right: string, min: number): boolean =>
  Math.abs(left.length - right.length) <= (1 - min) * Math.max(left.length, right.length);

/** 1 for equal texts, 0 for texts with nothing in common: the edit distance, relative to the longer one. */
export function similarity(left: string, right: string): number {
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

/** The suggestions, with what somebody already said about these columns in their place. */
export function withMappings(
  suggestions: readonly ColumnMapping[],
  mappings: readonly ColumnMapping[],
  fields: readonly DefinitionField[],
): ColumnMapping[] {
  const bySource = new Map(mappings.map((mapping) => [mapping.sourceColumn, mapping]));
  const exists = ({ targetProperty }: ColumnMapping) =>
    targetProperty === null || fields.some(({ propertyPath }) => propertyPath === targetProperty);
  return suggestions.map((suggestion) => {
    const mapping = bySource.get(suggestion.sourceColumn);
    return mapping && exists(mapping) ? mapping : suggestion;
  });
}

interface GivenMapping {
  sourceColumn: string;
  targetProperty?: string | null | undefined;
  confidence?: ColumnMapping['confidence'] | null | undefined;
}

/**
 * Checks the mappings that a caller confirmed; columns without a mapping are not imported.
 * @throws Problem `invalid`: unknown column or property, one property twice, a required property missing.
 */
export function confirmMappings(
  confirmed: readonly GivenMapping[],
  headers: readonly string[],
  fields: readonly DefinitionField[],
): ColumnMapping[] {
  const errors = new MappingErrors();
  errors.addUnknown(confirmed, headers, fields);
  const targets = new Set<string>();
  for (const [index, { targetProperty }] of confirmed.entries()) {
    if (!targetProperty) continue;
    if (targets.has(targetProperty))
      errors.add(`mappings[${index}].targetProperty`, 'Unique', `"${targetProperty}" has two columns.`);
    targets.add(targetProperty);
  }
  for (const { propertyPath, required, header } of fields) {
    if (required && !targets.has(propertyPath))
      errors.add(
        'mappings',
        'NotEmpty',
        `The required property "${propertyPath}" (${header}) has no column.`,
      );
  }
  errors.throwIfAny();
  return confirmed.map(toMapping);
}

/**
 * Checks mappings that were confirmed before: the definition may have changed since.
 * @throws Problem `invalid`: a property is gone, or another one is required by now.
 */
export const requireMappable = (
  mappings: readonly ColumnMapping[],
  fields: readonly DefinitionField[],
): void => {
  const columns = mappings.map(({ sourceColumn }) => sourceColumn);
  confirmMappings(mappings, columns, fields);
};

/**
 * Checks mappings that are not complete yet.
 * @throws Problem `invalid`: unknown column or property.
 */
export function draftMappings(
  draft: readonly GivenMapping[],
  headers: readonly string[],
  fields: readonly DefinitionField[],
): ColumnMapping[] {
  const errors = new MappingErrors();
  errors.addUnknown(draft, headers, fields);
  errors.throwIfAny();
  return draft.map(toMapping);
}

const toMapping = ({ sourceColumn, targetProperty, confidence }: GivenMapping): ColumnMapping => ({
  sourceColumn,
  targetProperty: targetProperty ?? null,
  confidence: confidence ?? 'Manual',
});

/** What is wrong with mappings, at the member of the request and in a sentence. */
class MappingErrors {
  private readonly rulesByPath: Record<string, ValidationRule[]> = {};
  private readonly reasons: string[] = [];

  /** @throws Problem `invalid` where there are more than are shown. */
  add(path: string, rule: ValidationRule, reason: string): void {
    (this.rulesByPath[path] ??= []).push(rule);
    this.reasons.push(reason);
    if (this.reasons.length === MAPPING_ERRORS_MAX) this.throwIfAny();
  }

  addUnknown(
    given: readonly GivenMapping[],
    headers: readonly string[],
    fields: readonly DefinitionField[],
  ): void {
    const known = new Set(headers);
    const properties = new Set(fields.map(({ propertyPath }) => propertyPath));
    const columns = new Set<string>();
    for (const [index, { sourceColumn, targetProperty }] of given.entries()) {
      const path = `mappings[${index}]`;
      if (!known.has(sourceColumn))
        this.add(`${path}.sourceColumn`, 'Enum', `The file has no column "${sourceColumn}".`);
      if (columns.has(sourceColumn))
        this.add(`${path}.sourceColumn`, 'Unique', `The column "${sourceColumn}" is listed twice.`);
      columns.add(sourceColumn);
      if (targetProperty && !properties.has(targetProperty))
        this.add(`${path}.targetProperty`, 'Enum', `There is no property "${targetProperty}".`);
    }
  }

  throwIfAny(): void {
    if (this.reasons.length > 0) throw invalid(dedupe(this.rulesByPath), this.reasons.join(' '));
  }
}

const dedupe = (errors: Record<string, ValidationRule[]>): Record<string, ValidationRule[]> =>
  Object.fromEntries(Object.entries(errors).map(([path, rules]) => [path, [...new Set(rules)]]));
