import { Command } from 'commander';
import { addGlobalOptions } from '../src/session';

export interface Received {
  /** `PUT /templates/welcome` */
  call: string;
  query: Record<string, string>;
  ifMatch: string | undefined;
  body: unknown;
}

export interface Reply {
  status?: number;
  body?: unknown;
  etag?: string;
}

/** What the platform responds to each call; nothing is 204. */
export type Replies = Record<string, Reply | ((received: Received) => Reply)>;

const url = 'http://platform.test';

/**
 * Runs a command of somebody who confirms everything, on a platform that responds as it is told.
 * Returns the exit code of the process and what was called; what the command throws is `error`.
 */
export async function runCommand(add: (program: Command) => void, words: string[], replies: Replies) {
  const received: Received[] = [];
  const fetchReplies = async (...[address, init]: Parameters<typeof fetch>): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(address));
    const request: Received = {
      call: `${init?.method ?? 'GET'} ${decodeURIComponent(pathname.replace('/api/v1', ''))}`,
      query: Object.fromEntries(searchParams),
      ifMatch: new Headers(init?.headers).get('if-match') ?? undefined,
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    };
    received.push(request);
    const found = replies[request.call] ?? {};
    return responseOf(typeof found === 'function' ? found(request) : found);
  };
  jest.spyOn(globalThis, 'fetch').mockImplementation(fetchReplies);
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.replaceProperty(process, 'env', { ...process.env, PLINTH_TOKEN: 'token', PLINTH_URL: url });
  const program = addGlobalOptions(new Command('plinth').exitOverride());
  add(program);
  try {
    const error = await program
      .parseAsync(['--json', '--yes', ...words], { from: 'user' })
      .then(() => undefined)
      .catch((thrown: unknown) => thrown);
    return { received, error, exitCode: process.exitCode };
  } finally {
    // That of these specs themselves.
    process.exitCode = undefined;
    jest.restoreAllMocks();
  }
}

function responseOf({ status, body, etag }: Reply): Response {
  const isText = typeof body === 'string';
  const textType = isText && body.startsWith('event: ') ? 'text/event-stream' : 'text/csv';
  const type = (status ?? 200) >= 400 ? 'application/problem+json' : 'application/json';
  return new Response(body === undefined ? null : isText ? body : JSON.stringify(body), {
    status: status ?? (body === undefined ? 204 : 200),
    headers: {
      'content-type': isText ? textType : type,
      ...(etag === undefined ? {} : { etag }),
    },
  });
}

/** A refusal. */
export const refused = (status: number, title: string, slug?: string): Reply => ({
  status,
  body: {
    type: slug ? `https://platform/problems/${slug}` : 'about:blank',
    title,
    status,
    detail: title,
    instance: '/',
  },
});
