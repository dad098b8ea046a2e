/** What went wrong, independent of the transport. HTTP, gRPC and Temporal each translate it in one table. */
export type ProblemKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'timed-out'
  | 'conflict'
  | 'gone'
  | 'too-large'
  | 'address-too-long'
  | 'unsupported-media-type'
  | 'range-not-satisfiable'
  | 'invalid'
  | 'limited'
  | 'headers-too-large'
  | 'internal'
  | 'unsupported'
  | 'upstream'
  | 'overloaded';

/** Property paths in camelCase, each with its error codes. */
export type FieldErrors = Record<string, string[]>;

export interface ProblemOptions {
  /** Names the problem type in kebab-case; the gateway serves a page about it at `/problems/{slug}`. */
  slug?: string;
  /** Short summary; the default is the name of the HTTP status. */
  title?: string;
  errors?: FieldErrors;
  /** Extra members of the problem body. */
  extensions?: Record<string, unknown>;
  /** When to retry, in seconds. */
  retryAfterSeconds?: number;
  /** Size of the file, for `range-not-satisfiable`. */
  sizeBytes?: number;
  /** Methods of the resource, for `method-not-allowed`. */
  allow?: readonly string[];
  cause?: unknown;
}

/**
 * A failure the caller is meant to understand.
 * It names a kind, never a status code. `detail` is public; details for operators that a caller must not see go into `cause`.
 */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly kind: ProblemKind,
    readonly detail: string,
    readonly options: ProblemOptions = {},
  ) {
    super(detail, { cause: options.cause });
  }

  get slug(): string | undefined {
    return this.options.slug;
  }

  get errors(): FieldErrors | undefined {
    return this.options.errors;
  }
}

/** One entry of a service's catalogue of problems. */
export interface ProblemType {
  readonly kind: ProblemKind;
  readonly title: string;
  /** What happened and what the caller can do about it; shown at `/problems/{slug}`. */
  readonly explanation: string;
}

export interface ProblemFactory extends ProblemType {
  (detail: string, options?: Omit<ProblemOptions, 'slug' | 'title'>): Problem;
  readonly slug: string;
}

/** Turns a catalogue of problem types into functions that make problems of these types. */
export function defineProblems<const Slug extends string>(
  types: Record<Slug, ProblemType>,
): Record<Slug, ProblemFactory> {
  const factories = Object.entries<ProblemType>(types).map(([slug, type]) => {
    const make = (detail: string, options: Omit<ProblemOptions, 'slug' | 'title'> = {}) =>
      new Problem(type.kind, detail, { ...options, slug, title: type.title });
    return [slug, Object.assign(make, type, { slug })];
  });
  return Object.fromEntries(factories) as Record<Slug, ProblemFactory>;
}

/** The rules whose names appear in validation codes. */
export type ValidationRule =
  | 'NotEmpty'
  | 'NotNull'
  | 'MaximumLength'
  | 'MinimumLength'
  | 'Enum'
  | 'Range'
  | 'Format'
  | 'Unique'
  | 'Immutable';

/** The wire form of a validation code: `Service:Validation:NotEmptyValidator`. */
export const validationCode = (rule: ValidationRule): string => `Service:Validation:${rule}Validator`;

/** Well-formed input that breaks rules; `errors` maps a property path to the rules it breaks. */
export function invalid(
  errors: Record<string, ValidationRule | readonly ValidationRule[]>,
  detail = 'One or more fields are not valid; see errors.',
): Problem {
  const coded = Object.entries(errors).map(([path, rules]) => [path, [rules].flat().map(validationCode)]);
  return new Problem('invalid', detail, {
    title: 'One or more validation errors occurred.',
    errors: Object.fromEntries(coded),
  });
}

/** Input that cannot be understood at all: broken syntax or a wrong type. */
export const malformed = (detail: string): Problem => new Problem('malformed', detail);

/** The caller is known but may not do this. */
export const forbidden = (detail: string): Problem => new Problem('forbidden', detail);

/** The resource does not exist, as far as this caller may know. */
export const notFound = (detail: string): Problem => new Problem('not-found', detail);

/** A part of the platform is unavailable; the caller can retry later. */
export const unavailable = (detail: string, cause?: unknown): Problem =>
  new Problem('overloaded', detail, { retryAfterSeconds: 5, cause });
