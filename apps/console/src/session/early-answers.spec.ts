import { askEarly, beginAsking, fetchAfterEarlyAnswers, firstQuestions, isEarly } from './early-answers';

const origin = 'https://plinth.example';
const session = { token: 'of-ada', expiresAt: 0 };
const headers = { authorization: 'Bearer of-ada' };

let asked: string[];
const { fetch, location } = globalThis;

beforeEach(() => {
  asked = [];
  globalThis.location = { origin } as Location;
  globalThis.fetch = (input, init) => {
    asked.push(`${init?.method ?? 'GET'} ${input as string}`);
    return Promise.resolve(Response.json(asked.length));
  };
});

afterEach(() => {
  globalThis.earlyAnswers = undefined;
  Object.assign(globalThis, { fetch, location });
});

describe('what a page is for', () => {
  it.each([
    [
      '/console/templates/welcome',
      '?culture=pt-BR&view=revisions',
      ['/api/v1/templates/welcome?culture=pt-BR'],
    ],
    ['/console/templates/a%20b/', '', ['/api/v1/templates/a%20b']],
    ['/console/templates/a@b,c+d', '', ['/api/v1/templates/a%40b%2Cc%2Bd']],
    ['/console/templates/100%', '', ['/api/v1/templates/100%']],
    ['/console/workflows/Loan', '', ['/api/v1/workflow/definitions/Loan?format=json']],
    ['/console/settings', '?level=tenant', ['/api/v1/settings/definitions']],
    ['/console/templates', '?search=a', []],
    ['/console/template-gallery/invoice', '', []],
    ['/console/imports', '', []],
    ['/console/imports/new', '', []],
  ])('is known of %s%s', (pathname, search, questions) => {
    expect(firstQuestions({ pathname, search })).toEqual(questions);
  });
});

describe('what a page asks', () => {
  const { sessionStorage } = globalThis;
  afterEach(() => void Object.assign(globalThis, { sessionStorage }));

  it.each([
    ['/console/entities/Loan/47%2011', ['workflowStatus', 'timeline']],
    ['/console/imports/01a2', ['import']],
    ['/console/notifications', ['notifications', 'unreadCount']],
    ['/console/settings', ['settingDefinitions', 'settings']],
    ['/console/template-categories', ['categories']],
    ['/console/templates/welcome', ['template']],
    ['/console/workflows/Loan', ['definition']],
  ])('of %s is the same that was asked early', async (pathname, names) => {
    globalThis.sessionStorage = {
      getItem: () => JSON.stringify({ ...session, expiresAt: Infinity }),
    } as never;
    const remember = globalThis.fetch;
    globalThis.fetch = async (...request) => {
      await remember(...request);
      return Response.json({ count: 1, states: [] });
    };
    jest.resetModules();
    const { QueryClient } = await import('@tanstack/react-query');
    const { importQuery } = await import('../api/data-exchange');
    const { settingDefinitionsQuery, settingsQuery } = await import('../api/settings');
    const { categoriesQuery, templateQuery } = await import('../api/templates');
    const { notificationsQuery, timelineQuery, unreadCountQuery } = await import('../api/timeline');
    const { definitionQuery, workflowStatusQuery } = await import('../api/workflow');
    const queries = new QueryClient();
    const loan = { entityType: 'Loan', entityId: '47 11' };
    const ask: Record<string, () => Promise<void>> = {
      workflowStatus: () => queries.prefetchQuery(workflowStatusQuery(loan)),
      timeline: () => queries.prefetchInfiniteQuery(timelineQuery(loan)),
      import: () => queries.prefetchQuery(importQuery('01a2')),
      notifications: () => queries.prefetchInfiniteQuery(notificationsQuery),
      unreadCount: () => queries.prefetchQuery(unreadCountQuery),
      settingDefinitions: () => queries.prefetchQuery(settingDefinitionsQuery),
      settings: () => queries.prefetchQuery(settingsQuery('user')),
      categories: () => queries.prefetchQuery(categoriesQuery),
      template: () => queries.prefetchQuery(templateQuery({ name: 'welcome', culture: undefined })),
      definition: () => queries.prefetchQuery(definitionQuery('Loan')),
    };
    for (const name of names) await ask[name]!();
    queries.clear();
    expect(asked).toEqual(firstQuestions({ pathname, search: '' }).map((path) => `GET ${origin}${path}`));
  });
});

describe('an early answer', () => {
  beforeEach(() => askEarly(session, ['/me']));

  it('is given once', async () => {
    expect(await (await fetchAfterEarlyAnswers(`${origin}/me`, { headers })).text()).toBe('1');
    expect(await (await fetchAfterEarlyAnswers(`${origin}/me`, { headers })).text()).toBe('2');
  });

  it('is none for another question, for a change and for another person', async () => {
    await fetchAfterEarlyAnswers(`${origin}/you`, { headers });
    await fetchAfterEarlyAnswers(`${origin}/me`, { method: 'PUT', headers });
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers: { authorization: 'Bearer of-grace' } });
    expect(asked).toEqual(['GET /me', `GET ${origin}/you`, `PUT ${origin}/me`, `GET ${origin}/me`]);
  });

  it('is none after a change, nor after half a minute', async () => {
    globalThis.earlyAnswers = undefined;
    askEarly(session, ['/me', '/you']);
    await fetchAfterEarlyAnswers(`${origin}/you`, { method: 'DELETE', headers });
    asked = [];
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers });
    expect(asked).toEqual([`GET ${origin}/me`]);

    globalThis.earlyAnswers = undefined;
    askEarly(session, ['/me']);
    asked = [];
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 31_000);
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers });
    jest.restoreAllMocks();
    expect(asked).toEqual([`GET ${origin}/me`]);
  });

  it('is not asked for once the application asks', async () => {
    globalThis.earlyAnswers = undefined;
    beginAsking();
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers });
    expect(isEarly()).toBe(false);
    askEarly(session, ['/me']);
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers });
    expect(asked).toEqual(['GET /me', `GET ${origin}/me`, `GET ${origin}/me`]);
  });

  it('stays where the application begins after it', async () => {
    beginAsking();
    await fetchAfterEarlyAnswers(`${origin}/me`, { headers });
    expect(asked).toEqual(['GET /me']);
  });

  it('that stops in the middle is waited for no longer than the reader wants', async () => {
    const half = (signal: AbortSignal) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"name":'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
    globalThis.fetch = (_, init) => Promise.resolve(new Response(half(init!.signal!)));
    globalThis.earlyAnswers = undefined;
    askEarly(session, ['/me']);
    const reader = new AbortController();
    const answer = await fetchAfterEarlyAnswers(`${origin}/me`, { headers, signal: reader.signal });
    reader.abort(new Error('It takes too long.'));
    await expect(answer.text()).rejects.toThrow('It takes too long.');
  });

  it('that does not begin is waited for no longer either', async () => {
    globalThis.fetch = (_, init) =>
      new Promise((_resolve, reject) =>
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error)),
      );
    globalThis.earlyAnswers = undefined;
    askEarly(session, ['/me']);
    const reader = new AbortController();
    const answer = fetchAfterEarlyAnswers(`${origin}/me`, { headers, signal: reader.signal });
    reader.abort(new Error('It takes too long.'));
    await expect(answer).rejects.toThrow('It takes too long.');
  });
});
