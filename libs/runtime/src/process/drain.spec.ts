import { once } from 'node:events';
import { Agent, createServer, request, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Drain } from './drain';

/** @param seconds of the drain; none, unless connections have to last longer than the test */
async function start(listener: RequestListener, seconds = 0) {
  const drain = new Drain({ NODE_ENV: 'test', DRAIN_SECONDS: seconds });
  const server = createServer({ ...drain.keepAlive(60_000) }, drain.watch(listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const ask = (path = '/'): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ agent, port, path, host: '127.0.0.1' }, (response) => {
        response.resume().once('end', () => resolve(response.headers.connection ?? ''));
      });
      asked.once('error', reject).end();
    });
  return { drain, server, port, ask };
}

describe('a server that drains', () => {
  it('goes on at first, and ends each connection with its answer, also of requests that came before', async () => {
    const waiting: ServerResponse[] = [];
    const { drain, server, ask } = await start((_request, response) => void waiting.push(response));
    const before = ask();
    while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
    drain.begin(server);
    const after = ask();
    while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const response of waiting) response.end();
    expect(await Promise.all([before, after])).toEqual(['close', 'close']);
    await drain.finish(server);
  });

  it('waits for an answer that had begun before, and not for its client to let go', async () => {
    let begun: ServerResponse | undefined;
    const { drain, server, ask } = await start((_request, response) => {
      response.writeHead(200).flushHeaders();
      begun = response;
    });
    const asked = ask();
    while (!begun) await new Promise((resolve) => setImmediate(resolve));
    const cutOff = jest.spyOn(server, 'closeAllConnections');
    drain.begin(server);
    const finished = drain.finish(server);
    while (server.listening) await new Promise((resolve) => setImmediate(resolve));
    begun.end();
    expect(await asked).toBe('keep-alive');
    await finished;
    expect(cutOff).not.toHaveBeenCalled();
  });

  it('goes on with a connection whose response had begun before, until its client has sent the next request', async () => {
    const first = Promise.withResolvers<ServerResponse>();
    const { drain, server, ask } = await start((request, response) => {
      if (request.url !== '/first') return void response.end();
      response.writeHead(200).flushHeaders();
      first.resolve(response);
    }, 3_600);
    const asked = ask('/first');
    const begun = await first.promise;
    drain.begin(server);
    begun.end();
    expect(await asked).toBe('keep-alive');
    const finished = drain.finish(server);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await ask()).toBe('close');
    await finished;
  });

  it('responds to what came before it closes, though it had no time to read it until then', async () => {
    const { drain, server, port } = await start((_request, response) => void response.end('served'));
    const client = connect({ port, host: '127.0.0.1' });
    const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
    client.write(request);
    await once(client, 'data');
    const received = text(client);
    drain.begin(server);
    // Nothing is read between the two: it waits for the server in the kernel.
    client.write(request);
    const finished = drain.finish(server);
    expect(await received).toMatch(/connection: close[^]*served/i);
    await finished;
  });

  it.each([
    { what: 'less than its drain takes', seconds: 5, expected: 4 },
    { what: 'not more than it keeps one', seconds: 100, expected: 60 },
    { what: 'what it keeps one where it has no drain', seconds: 0, expected: 60 },
  ])('tells clients for how long a connection may be unused: $what', async ({ seconds, expected }) => {
    const { drain, server, port } = await start((_request, response) => void response.end(), seconds);
    const response = await fetch(`http://127.0.0.1:${port}`);
    expect(response.headers.get('keep-alive')).toBe(`timeout=${expected}`);
    server.closeAllConnections();
    await drain.finish(server);
  });
});
