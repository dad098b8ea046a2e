import { sendOnce } from './send-once';

const comments = 'http://platform/api/v1/timeline/Order/1/entries';
const request = (
  key: string,
  { method = 'POST', body = '{"body":"Hello"}', ifMatch = '', ifNoneMatch = '' } = {},
) => ({
  method,
  body,
  headers: {
    'idempotency-key': key,
    ...(ifMatch ? { 'if-match': ifMatch } : {}),
    ...(ifNoneMatch ? { 'if-none-match': ifNoneMatch } : {}),
  },
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
    await lose(comments, request('1'));
    await lose(comments, request('2', { body: '{"body":"Hello!"}' }));
    await lose(comments, request('3', { method: 'PUT', ifMatch: '"1"' }));
    await lose(comments, request('4', { method: 'PUT', ifMatch: '"2"' }));
    await lose(comments.replace('1', '2'), request('5'));
    await lose(comments, request('6', { method: 'PUT', ifNoneMatch: '*' }));
    replies = [done()];
    await send(comments, { method: 'GET' });
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', null]);
  });

  it('has its key also where it only creates', async () => {
    const definition = 'http://platform/api/v1/workflow/definitions/Order';
    const onlyCreate = { method: 'PUT', ifNoneMatch: '*' };
    await lose(definition, request('1', onlyCreate));
    await answer(definition, request('2', onlyCreate));
    expect(keys).toEqual(['1', '1']);
  });

  it('is made anew after another write that may have taken it back, also while it is under way', async () => {
    const templates = 'http://platform/api/v1/templates';
    await lose(`${templates}/welcome/unpublish`, request('1'));
    await lose(`${templates}/welcome/publish`, request('2'));
    await answer(`${templates}/welcome/unpublish`, request('3'));

    await lose(templates, request('4'));
    await answer(`${templates}/welcome`, request('5', { method: 'DELETE' }));
    await answer(templates, request('6'));

    const hanging = Promise.withResolvers<Response>();
    replies = [hanging.promise];
    const first = send(`${templates}/welcome/history/1/restore`, request('7'));
    await answer(`${templates}/welcome/history/2/restore`, request('8'));
    hanging.reject(lost);
    await expect(first).rejects.toThrow('no connection');
    await answer(`${templates}/welcome/history/1/restore`, request('9'));
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  it('has a new key where it may be done twice', async () => {
    const dark = { method: 'PUT', body: '"dark"' };
    await lose('http://platform/api/v1/settings/user/theme', request('1', dark));
    await answer('http://platform/api/v1/settings/user/theme', request('2', dark));
    expect(keys).toEqual(['1', '2']);
  });

  it('keeps its key where its own call sends it again, whatever was written since', async () => {
    await lose(comments, request('1'));
    replies = [new Response(null, { status: 401 })];
    await send(comments, request('2'));
    await answer(comments, request('3', { body: '{"body":"Hello!"}' }));
    await answer(comments, request('2'));
    expect(keys).toEqual(['1', '1', '3', '1']);
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
