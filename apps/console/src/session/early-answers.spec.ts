import { askEarly, fetchAfterEarlyAnswers, firstQuestion } from './early-answers';

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
    return Promise.resolve(new Response(String(asked.length)));
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
      '/api/v1/templates/welcome?culture=pt-BR',
    ],
    ['/console/templates/a%20b/', '', '/api/v1/templates/a%20b'],
    ['/console/templates/a@b,c+d', '', '/api/v1/templates/a%40b%2Cc%2Bd'],
    ['/console/templates/100%', '', '/api/v1/templates/100%'],
    ['/console/workflows/Loan', '', '/api/v1/workflow/definitions/Loan?format=json'],
    ['/console/templates', '?search=a', undefined],
    ['/console/template-gallery/invoice', '', undefined],
    ['/console/imports', '', undefined],
  ])('is known of %s%s', (pathname, search, question) => {
    expect(firstQuestion({ pathname, search })).toBe(question);
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

  it('that stops in the middle is waited for no longer than the reader wants', async () => {
    const half = (signal: AbortSignal) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"name":'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
    globalThis.fetch = (_, init) => Promise.resolve(new Response(half(init!.signal!)));
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
    askEarly(session, ['/me']);
    const reader = new AbortController();
    const answer = fetchAfterEarlyAnswers(`${origin}/me`, { headers, signal: reader.signal });
    reader.abort(new Error('It takes too long.'));
    await expect(answer).rejects.toThrow('It takes too long.');
  });
});
