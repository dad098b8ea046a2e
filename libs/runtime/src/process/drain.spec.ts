import { Agent, createServer, request, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Drain } from './drain';

async function start(listener: RequestListener) {
  const drain = new Drain();
  const server = createServer({ keepAliveTimeout: 60_000 }, drain.watch(listener));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const ask = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ agent, port, host: '127.0.0.1' }, (response) => {
        response.resume().once('end', () => resolve(response.headers.connection ?? ''));
      });
      asked.once('error', reject).end();
    });
  return { drain, server, ask };
}

describe('a server that drains', () => {
  it('goes on at first, and ends each connection with its answer, also of requests that came before', async () => {
    const waiting: ServerResponse[] = [];
    const { drain, server, ask } = await start((_request, response) => void waiting.push(response));
    const before = ask();
    while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
    drain.begin();
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
    drain.begin();
    const finished = drain.finish(server);
    begun.end();
    expect(await asked).toBe('keep-alive');
    await finished;
  });
});
