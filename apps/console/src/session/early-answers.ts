import type { Session } from './stored-session';

interface EarlyAnswer {
  authorization: string;
  response: Promise<Response>;
  stop: AbortController;
}

declare global {
  /** By address: what the script that a page begins with leaves for the application, which is another script. */
  var earlyAnswers: Map<string, EarlyAnswer> | undefined;
}

/** What the pages are for whose largest text comes from the platform, by their addresses. */
const firstQuestions: readonly [
  address: RegExp,
  question: (name: string, search: URLSearchParams) => string,
][] = [
  [
    /^\/console\/templates\/([^/]+)\/?$/,
    (name, search) => {
      const culture = search.get('culture');
      return `/api/v1/templates/${name}${culture ? `?${new URLSearchParams({ culture })}` : ''}`;
    },
  ],
  [/^\/console\/workflows\/([^/]+)\/?$/, (name) => `/api/v1/workflow/definitions/${name}?format=json`],
];

/** What the page of an address asks the platform first; undefined where that is not known before the page is there. */
export function firstQuestion({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): string | undefined {
  for (const [address, question] of firstQuestions) {
    const name = address.exec(pathname)?.[1];
    if (name !== undefined) return question(asSent(name), new URLSearchParams(search));
  }
  return undefined;
}

/** Whoever types an address may leave characters as they are that the application sends encoded. */
function asSent(name: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(name));
  } catch {
    return name;
  }
}

/** Asks the platform, long before the application could. */
export function askEarly({ token }: Session, paths: readonly string[]): void {
  const authorization = `Bearer ${token}`;
  const headers = { accept: 'application/json, application/problem+json', authorization };
  const answers = paths.map((path): [string, EarlyAnswer] => {
    const stop = new AbortController();
    const response = fetch(path, { headers, signal: stop.signal });
    // The application asks again where this failed.
    response.catch(() => undefined);
    return [location.origin + path, { authorization, response, stop }];
  });
  globalThis.earlyAnswers = new Map(answers);
}

/** `fetch`, but for the first time that something is read which has been asked already. */
export const fetchAfterEarlyAnswers: typeof fetch = (input, init) => {
  const early = typeof input === 'string' ? globalThis.earlyAnswers?.get(input) : undefined;
  if (!early || (init?.method ?? 'GET') !== 'GET') return fetch(input, init);
  globalThis.earlyAnswers!.delete(input as string);
  const isSamePerson = new Headers(init?.headers).get('authorization') === early.authorization;
  if (!isSamePerson) return fetch(input, init);
  const { stop, response } = early;
  const { signal } = init!;
  signal?.addEventListener('abort', () => stop.abort(signal.reason));
  return response;
};
