/** The body of every failure (RFC 7807), as the platform sends it. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  traceId?: string;
  /** Error codes by property path, when input broke rules. */
  errors?: Record<string, string[]>;
  [extension: string]: unknown;
}

/** Thrown for every answer that is not a success. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    readonly problem: ProblemDetails,
    /** When trying again makes sense, where the platform said so. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(`${problem.title}: ${problem.detail}`);
  }

  get status(): number {
    return this.problem.status;
  }

  /** Names the situation, such as `stale-version`; undefined for general problems. */
  get slug(): string | undefined {
    return /\/problems\/([\w-]+)$/.exec(this.problem.type)?.[1];
  }

  get errors(): Record<string, string[]> {
    return this.problem.errors ?? {};
  }

  /** Quote it when you ask an operator for help. */
  get traceId(): string | undefined {
    return this.problem.traceId;
  }
}

/** Reads the problem of a failed answer, also where something on the way answered in its own words. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text();
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  return new ApiProblem(
    parse(text) ?? unknownProblem(response),
    Number.isFinite(seconds) ? seconds : undefined,
  );
}

function parse(text: string): ProblemDetails | undefined {
  try {
    const value = JSON.parse(text) as ProblemDetails | null;
    return typeof value?.status === 'number' && typeof value.type === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

const unknownProblem = ({ status, statusText, url }: Response): ProblemDetails => ({
  type: 'about:blank',
  title: statusText || 'Error',
  status,
  detail: 'The answer is not one of the platform.',
  instance: URL.canParse(url) ? new URL(url).pathname : '',
});
