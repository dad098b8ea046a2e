import { sendOnce } from './send-once';

const comments = 'http://platform/api/v1/timeline/Order/1/entries';
const request = (key: string, { method = 'POST', body = '{"body":"Hello"}', ifMatch = '' } = {}) => ({
  method,
  body,
  headers: { 'idempotency-key': key, ...(ifMatch ? { 'if-match': ifMatch } : {}) },
});

const lost = new TypeError('no connection');
const done = () => new Response('{}', { status: 200 });

describe('a write that got no response', () => {
  let keys: (string | null)[];
  let replies: (Response | Error | Promise<Response>)[];
  let send: typeof fetch;
  beforeEach(() => {
    keys = [];
    send = sendOnce(async (_, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      const reply = await replies.shift()!;
      if (reply instanceof Error) throw reply;
      return reply;
    });
  });
  afterEach(() => jest.useRealTimers());

  const lose = async (...input: Parameters<typeof fetch>) => {
    replies = [lost];
    await expect(send(...input)).rejects.toThrow('no connection');
  };
  const answer = async (...input: Parameters<typeof fetch>) => {
    replies = [done()];
    await (await send(...input)).text();
  };

  it('has its key when a person sends it again, until the platform says what became of it', async () => {
    const stopped = new ReadableStream({ start: (controller) => controller.error(new TypeError('cut off')) });
    replies = [
      lost,
      new Response(null, { status: 503 }),
      new Response(null, { status: 409, headers: { 'retry-after': '1' } }),
      new Response(null, { status: 401 }),
      new Response(null, { status: 429 }),
      new Response(null, { status: 500 }),
      new Response(stopped, { status: 201 }),
      new Response('{}', { status: 201 }),
      new Response(null, { status: 204 }),
    ];
    await expect(send(comments, request('1'))).rejects.toThrow('no connection');
    for (const key of ['2', '3', '4', '5', '6']) await send(comments, request(key));
    await expect((await send(comments, request('7'))).text()).rejects.toThrow('cut off');
    expect(await (await send(comments, request('8'))).text()).toBe('{}');
    await send(comments, request('9'));
    expect(keys).toEqual([...Array<string>(8).fill('1'), '9']);
  });

  it.each([200, 400, 404, 409, 410, 422])('is known to have ended by %i', async (status) => {
    await lose(comments, request('1'));
    replies = [new Response('{}', { status }), done()];
    await (await send(comments, request('2'))).text();
    await send(comments, request('3'));
    expect(keys).toEqual(['1', '1', '3']);
  });

  it('is another one where anything of it is different', async () => {
    replies = [lost, done(), done(), done(), done(), done(), done()];
    // While the first is under way, what comes meanwhile does not end it.
    const first = send(comments, request('1')).catch(() => undefined);
    await Promise.all([
      first,
      send(comments, request('2', { body: '{"body":"Hello!"}' })),
      send(comments, request('3', { method: 'PUT' })),
      send(comments, request('4', { ifMatch: '"1"' })),
      send(comments.replace('1', '2'), request('5')),
      send(comments, { method: 'GET' }),
    ]);
    await send(comments, request('6'));
    expect(keys).toEqual(['1', '2', '3', '4', '5', null, '1']);
  });

  it('is made anew after another write that may have taken it back', async () => {
    const [theme, dark, light] = ['http://platform/api/v1/settings/user/theme', '"dark"', '"light"'];
    await lose(theme, request('1', { method: 'PUT', body: dark }));
    await answer(theme, request('2', { method: 'PUT', body: light }));
    await answer(theme, request('3', { method: 'PUT', body: dark }));

    const template = 'http://platform/api/v1/templates/welcome';
    await lose(`${template}/unpublish`, request('4'));
    await lose(`${template}/publish`, request('5'));
    await answer(`${template}/unpublish`, request('6'));
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  it('is the same whatever is written elsewhere', async () => {
    await lose(comments, request('1'));
    await answer('http://platform/api/v1/settings/user/theme', request('2', { method: 'PUT' }));
    await answer(comments, request('3'));
    expect(keys).toEqual(['1', '2', '1']);
  });

  it('is meant anew after a while, but not by the call that waited that long for somebody to sign in', async () => {
    jest.useFakeTimers();
    await lose(comments, request('1'));
    jest.setSystemTime(Date.now() + 9 * 60_000);
    replies = [new Response(null, { status: 401 })];
    await send(comments, request('2'));
    jest.setSystemTime(Date.now() + 60 * 60_000);
    await lose(comments, request('2'));
    jest.setSystemTime(Date.now() + 11 * 60_000);
    await answer(comments, request('3'));
    expect(keys).toEqual(['1', '1', '1', '3']);
  });
});
