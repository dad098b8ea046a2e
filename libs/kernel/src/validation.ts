import { invalid, malformed, type Problem, type ValidationRule } from './problem';
import type { z } from 'zod';

/** Where input comes from: errors in a path or query are malformed (400), errors in a body may be invalid (422). */
export type InputSource = 'body' | 'query' | 'path';

/**
 * Parses input by a schema.
 * @throws Problem `malformed` (400) for a wrong type, `invalid` (422) for a broken rule.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  source: InputSource,
): z.output<Schema> {
  const context = { reportInput: true, abortEarly: true };
  const result = schema.safeParse(input, context);
  if (result.success) return result.data;
  // Where there may be very many errors, the first one is enough: to find and to tell them all would take seconds.
  const all = hasMoreValuesThan(VALUES_MAX, input) ? result : schema.safeParse(input, { reportInput: true });
  throw problemOfIssues((all.error ?? result.error).issues, source);
}

/**
 * Texts, numbers, lists, objects and the like, of which each may be wrong in several ways: more than the largest batches of
 * small items and the mappings of the widest files have.
 */
const VALUES_MAX = 6_000;

/** Looks at no more values than that. */
function hasMoreValuesThan(max: number, input: unknown): boolean {
  const waiting = [input];
  let count = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (++count > max) return true;
    if (typeof value !== 'object' || value === null) continue;
    const room = max - count - waiting.length;
    if (Array.isArray(value)) {
      if (value.length > room) return true;
      waiting.push(...(value as unknown[]));
      continue;
    }
    let members = 0;
    // Not all at once: the names of a very large object are half of what counting takes.
    for (const name in value) {
      if (++members > room) return true;
      waiting.push((value as Record<string, unknown>)[name]);
    }
  }
  return false;
}

/** What zod says of a rule that has no message of its own; it tells nobody anything. */
const MESSAGE_OF_ZOD = 'Invalid input';

type Violation = { path: string; rule: ValidationRule } | { path: string; malformed: string };

/** Translates the issues that zod found into one problem. */
export function problemOfIssues(issues: readonly z.core.$ZodIssue[], source: InputSource): Problem {
  const violations = issues.map((issue) => violationOf(issue, source));
  const malformedInput = violations.find((violation) => 'malformed' in violation);
  if (malformedInput) return malformed(`${malformedInput.path}: ${malformedInput.malformed}`);
  const errors: Record<string, ValidationRule[]> = {};
  for (const violation of violations) {
    if ('rule' in violation) (errors[violation.path] ??= []).push(violation.rule);
  }
  const messages = issues
    .filter(({ code, message }) => code === 'custom' && message !== MESSAGE_OF_ZOD)
    .map(({ message }) => message);
  return messages.length > 0 ? invalid(errors, messages.join(' ')) : invalid(errors);
}

function violationOf(issue: z.core.$ZodIssue, source: InputSource): Violation {
  const path = propertyPath(issue.path) || source;
  const broken = (rule: ValidationRule): Violation => ({ path, rule });
  const wrong = (reason: string): Violation => ({ path, malformed: reason });
  const inAddress = source !== 'body';

  if (issue.input === undefined && issue.code !== 'custom') return broken('NotEmpty');
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === null ? broken('NotNull') : wrong(`must be of type ${issue.expected}.`);
    case 'invalid_value':
      if (issue.input === null) return broken('NotNull');
      if (!inAddress && issue.values.some((value) => isOfOneType(value, issue.input))) return broken('Enum');
      return wrong(`must be one of ${issue.values.join(', ')}.`);
    case 'too_small':
      if (isNumeric(issue.origin))
        return inAddress ? wrong(`must be at least ${issue.minimum}.`) : broken('Range');
      return broken(Number(issue.minimum) <= 1 ? 'NotEmpty' : 'MinimumLength');
    case 'too_big':
      if (isNumeric(issue.origin))
        return inAddress ? wrong(`must be at most ${issue.maximum}.`) : broken('Range');
      return broken('MaximumLength');
    case 'custom': {
      const rule = (issue.params?.['rule'] as ValidationRule | undefined) ?? 'Format';
      return inAddress && rule === 'Format' ? wrong(issue.message) : broken(rule);
    }
    case 'invalid_union':
      return violationOfUnion(issue, source, path);
    default:
      return inAddress ? wrong(issue.message) : broken('Format');
  }
}

/** A union has the wrong type when no member accepts the type of the input; else the violation of the nearest member counts. */
function violationOfUnion(issue: z.core.$ZodIssueInvalidUnion, source: InputSource, path: string): Violation {
  if (issue.input === null) return { path, rule: 'NotNull' };
  const members = issue.errors.map((issues) =>
    issues.map((inner) => violationOf({ ...inner, path: [...issue.path, ...inner.path] }, source)),
  );
  const nearest = members.find((violations) => violations.every((violation) => 'rule' in violation));
  return nearest?.[0] ?? members[0]?.[0] ?? { path, rule: 'Format' };
}

/** Whether two values have the same JSON type; a number with a fraction is no integer. */
const isOfOneType = (permitted: unknown, input: unknown): boolean =>
  typeof permitted === typeof input && (!Number.isInteger(permitted) || Number.isInteger(input));

const isNumeric = (origin: string): boolean => ['number', 'int', 'bigint', 'date'].includes(origin);

/** `items[0].name`, as in the `errors` of a validation problem. */
export const propertyPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
