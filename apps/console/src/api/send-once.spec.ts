import { sendOnce } from './send-once';

const write = (key: string, body = '{"body":"Hello"}') =>
  ['http://platform/comments', { method: 'POST', headers: { 'idempotency-key': key }, body }] as const;

describe('a write that got no response', () => {
  const keys: (string | null)[] = [];
  let replies: (Response | Error)[];
  const send = sendOnce((_, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    const reply = replies.shift()!;
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  });
  beforeEach(() => void keys.splice(0));

  it('has its key when a person sends it again, until there is a response', async () => {
    const stopped = new ReadableStream({ start: (controller) => controller.error(new TypeError('cut off')) });
    replies = [
      new TypeError('no connection'),
      new Response(null, { status: 503 }),
      new Response(null, { status: 409, headers: { 'retry-after': '1' } }),
      new Response(stopped, { status: 201 }),
      new Response('{}', { status: 201 }),
      new Response(null, { status: 204 }),
    ];
    await expect(send(...write('first'))).rejects.toThrow('no connection');
    await send(...write('second'));
    await send(...write('third'));
    await expect(send(...write('fourth'))).rejects.toThrow('cut off');
    expect(await (await send(...write('fifth'))).text()).toBe('{}');
    await send(...write('sixth'));
    expect(keys).toEqual(['first', 'first', 'first', 'first', 'first', 'sixth']);
  });

  it('leaves a response without content as it is, whose body browsers do not leave out', async () => {
    const empty = new Response(null, { status: 204 });
    Object.defineProperty(empty, 'body', { value: new ReadableStream() });
    replies = [empty];
    expect((await send(...write('first'))).status).toBe(204);
  });

  it('is another one where anything of it is different', async () => {
    replies = [new TypeError('no connection'), new Response(null), new Response(null)];
    await expect(send(...write('first'))).rejects.toThrow();
    await send(...write('second', '{"body":"Hello!"}'));
    await send('http://platform/comments', { method: 'GET' });
    expect(keys).toEqual(['first', 'second', null]);
  });
});
