import type { Session } from './stored-session';

interface EarlyAnswer {
  authorization: string;
  response: Promise<Response>;
  stop: AbortController;
  /** When it was asked for, in milliseconds since 1970. */
  askedAt: number;
}

/** As long as an answer is taken for what is: nothing says what changed since. */
const AGE_MILLISECONDS_MAX = 30_000;

declare global {
  /**
   * By address: what the script that a page begins with leaves for the application, which is another script. There is none
   * until one of the two begins to ask: on a slow network the application can be the first.
   */
  var earlyAnswers: Map<string, EarlyAnswer> | undefined;
}

const FIRST_PAGE = 'cursor=&pageSize=30';

/** What pages show at once that comes from the platform, by their addresses, whose parameters are the names. */
const questionsOfPages: readonly [
  address: RegExp,
  questions: (search: URLSearchParams, ...names: string[]) => readonly string[],
][] = [
  [
    /^\/console\/templates\/([^/]+)\/?$/,
    (search, name) => {
      const culture = search.get('culture');
      return [`/api/v1/templates/${name}${culture ? `?${new URLSearchParams({ culture })}` : ''}`];
    },
  ],
  [
    /^\/console\/workflows\/([^/]+)\/?$/,
    (_search, entityType) => [`/api/v1/workflow/definitions/${entityType}?format=json`],
  ],
  [
    /^\/console\/entities\/([^/]+)\/([^/]+)\/?$/,
    (_search, entityType, entityId) => [
      `/api/v1/workflow/${entityType}/${entityId}/transitions`,
      `/api/v1/timeline/${entityType}/${entityId}?${FIRST_PAGE}`,
    ],
  ],
  [/^\/console\/imports\/(?!new\/?$)([^/]+)\/?$/, (_search, jobId) => [`/api/v1/imports/${jobId}`]],
  [
    /^\/console\/notifications\/?$/,
    () => [`/api/v1/notifications?${FIRST_PAGE}`, '/api/v1/notifications/unread-count'],
  ],
  [
    /^\/console\/settings\/?$/,
    (search) => [
      '/api/v1/settings/definitions',
      ...(search.has('level') ? [] : ['/api/v1/settings/user/effective']),
    ],
  ],
  [/^\/console\/template-categories\/?$/, () => ['/api/v1/template-categories']],
];

/** What the page of an address asks the platform first; nothing where that is not known before the page is there. */
export function firstQuestions({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): readonly string[] {
  for (const [address, questions] of questionsOfPages) {
    const match = address.exec(pathname);
    if (match) return questions(new URLSearchParams(search), ...match.slice(1).map(asSent));
  }
  return [];
}

/** Whoever types an address may leave characters as they are that the application sends encoded. */
function asSent(name: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(name));
  } catch {
    return name;
  }
}

/** Whether nothing was asked yet, neither early nor by the application. */
export const isEarly = (): boolean => globalThis.earlyAnswers === undefined;

/** The application asks from now on: what would be asked early after that would be asked twice. */
export function beginAsking(): void {
  globalThis.earlyAnswers ??= new Map();
}

/** Asks the platform, long before the application could; nothing where that asks already. */
export function askEarly({ token }: Session, paths: readonly string[]): void {
  if (!isEarly()) return;
  const authorization = `Bearer ${token}`;
  const headers = { accept: 'application/json, application/problem+json', authorization };
  const answers = paths.map((path): [string, EarlyAnswer] => {
    const stop = new AbortController();
    const response = fetch(path, { headers, signal: stop.signal });
    // The application asks again where this failed.
    response.catch(() => undefined);
    return [location.origin + path, { authorization, response, stop, askedAt: Date.now() }];
  });
  globalThis.earlyAnswers = new Map(answers);
}

/** `fetch`, but for the first time that something is read which has been asked just before, and not changed since. */
export const fetchAfterEarlyAnswers: typeof fetch = (input, init) => {
  const answers = globalThis.earlyAnswers;
  if ((init?.method ?? 'GET') !== 'GET') answers?.clear();
  const early = typeof input === 'string' ? answers?.get(input) : undefined;
  if (!early) return fetch(input, init);
  answers!.delete(input as string);
  const isSamePerson = new Headers(init?.headers).get('authorization') === early.authorization;
  if (!isSamePerson || Date.now() - early.askedAt > AGE_MILLISECONDS_MAX) return fetch(input, init);
  const { stop, response } = early;
  const { signal } = init!;
  signal?.addEventListener('abort', () => stop.abort(signal.reason));
  return response;
};
