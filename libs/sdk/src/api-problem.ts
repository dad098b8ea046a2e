/** The body of every error response (RFC 7807). */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  traceId?: string;
  /** Error codes by property path, when the input breaks validation rules. */
  errors?: Record<string, string[]>;
  [extension: string]: unknown;
}

/** Thrown for every response that is not a success. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    readonly problem: ProblemDetails,
    /** When to retry, where the platform says so. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(`${problem.title}: ${problem.detail}`);
  }

  get status(): number {
    return this.problem.status;
  }

  /** Names the type of the problem, such as `stale-version`; undefined for general problems. */
  get slug(): string | undefined {
    return /\/problems\/([\w-]+)$/.exec(this.problem.type)?.[1];
  }

  get errors(): Record<string, string[]> {
    return this.problem.errors ?? {};
  }

  /** Lets an operator find the request in the logs. */
  get traceId(): string | undefined {
    return this.problem.traceId;
  }
}

/**
 * Reads the problem of an error response, also of one in another form, such as that of a proxy.
 * @param url that was asked, since a response that was made anew names none
 */
export async function problemOf(response: Response, url: string): Promise<ApiProblem> {
  const text = await response.text();
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  return new ApiProblem(
    problemIn(text) ?? unknownProblem(response, url),
    Number.isFinite(seconds) ? seconds : undefined,
  );
}

/** The problem that a text is, as the platform writes it. */
export function problemIn(text: string): ProblemDetails | undefined {
  try {
    const value = JSON.parse(text) as ProblemDetails | null;
    return typeof value?.status === 'number' && typeof value.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

const unknownProblem = ({ status, statusText }: Response, url: string): ProblemDetails => ({
  type: 'about:blank',
  title: statusText || 'Error',
  status,
  detail: 'The response was not sent by the platform.',
  instance: pathOf(url),
});

/** The problem of a response that began as a success and broke off. */
export const brokenOff = (url: string): ApiProblem =>
  new ApiProblem(
    {
      type: 'about:blank',
      title: 'Bad Gateway',
      status: 502,
      detail: 'The response broke off before its end. It takes long to make, so it was not asked for again.',
      instance: pathOf(url),
    },
    undefined,
  );

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '');
