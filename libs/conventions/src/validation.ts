import { invalid, malformed, type Problem, type ValidationRule } from '@plinth/kernel/problem';
import type { z } from 'zod';

/** Where input comes from: what is wrong in an address is malformed, what is wrong in a body may be invalid. */
export type InputSource = 'body' | 'query' | 'path';

/**
 * Parses input by a schema.
 * @throws Problem `malformed` (400) for a wrong type, `invalid` (422) for a broken rule; silences, rows 7 and 54.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  source: InputSource,
): z.output<Schema> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw problemOfIssues(result.error.issues, source);
}

type Verdict = { path: string; rule: ValidationRule } | { path: string; malformed: string };

/** Translates what zod found into one problem. */
export function problemOfIssues(issues: readonly z.core.$ZodIssue[], source: InputSource): Problem {
  const verdicts = issues.map((issue) => judge(issue, source));
  const wrong = verdicts.find((verdict) => 'malformed' in verdict);
  if (wrong) return malformed(`${wrong.path}: ${wrong.malformed}`);
  const errors: Record<string, ValidationRule[]> = {};
  for (const verdict of verdicts) {
    if ('rule' in verdict) (errors[verdict.path] ??= []).push(verdict.rule);
  }
  const messages = issues.filter(({ code }) => code === 'custom').map(({ message }) => message);
  return messages.length > 0 ? invalid(errors, messages.join(' ')) : invalid(errors);
}

function judge(issue: z.core.$ZodIssue, source: InputSource): Verdict {
  const path = propertyPath(issue.path) || source;
  const broken = (rule: ValidationRule): Verdict => ({ path, rule });
  const wrong = (reason: string): Verdict => ({ path, malformed: reason });
  const inAddress = source !== 'body';

  if (issue.input === undefined && issue.code !== 'custom') return broken('NotEmpty');
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === null ? broken('NotNull') : wrong(`must be of type ${issue.expected}.`);
    case 'invalid_value':
      if (issue.input === null) return broken('NotNull');
      if (!inAddress && issue.values.some((value) => typeof value === typeof issue.input))
        return broken('Enum');
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
      return judgeUnion(issue, source, path);
    default:
      return inAddress ? wrong(issue.message) : broken('Format');
  }
}

/** A union is of the wrong type when no member takes the type of the input; else the nearest member's verdict counts. */
function judgeUnion(issue: z.core.$ZodIssueInvalidUnion, source: InputSource, path: string): Verdict {
  if (issue.input === null) return { path, rule: 'NotNull' };
  const members = issue.errors.map((issues) =>
    issues.map((inner) => judge({ ...inner, path: [...issue.path, ...inner.path] }, source)),
  );
  const nearest = members.find((verdicts) => verdicts.every((verdict) => 'rule' in verdict));
  return nearest?.[0] ?? members[0]?.[0] ?? { path, rule: 'Format' };
}

const isNumeric = (origin: string): boolean => ['number', 'int', 'bigint', 'date'].includes(origin);

/** `items[0].name`, as in the `errors` of a validation problem. */
export const propertyPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
