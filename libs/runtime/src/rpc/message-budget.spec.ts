import {
  makeGenericClientConstructor,
  type Client,
  type ClientWritableStream,
  type Metadata,
  type requestCallback,
  type sendUnaryData,
  type ServerReadableStream,
} from '@grpc/grpc-js';
import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import { Registry } from 'prom-client';
import { ByteBudget } from '../process/byte-budget';
import { silentLog } from '../process/log';
import { CallNotSent, grpcHandlers, serveGrpc, serviceClient, type ClientConstructor } from './grpc';

interface Message {
  text: string;
}

const serialize = (message: Message): Buffer => Buffer.from(message.text);
const deserialize = (bytes: Buffer): Message => ({ text: bytes.toString() });
const serialization = {
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
};
const definition = {
  Find: { path: '/test.Things/Find', requestStream: false, responseStream: false, ...serialization },
  Send: { path: '/test.Things/Send', requestStream: true, responseStream: false, ...serialization },
};
interface ThingsClient extends Client {
  Find(message: Message, callback: requestCallback<Message>): unknown;
  Send(identity: Metadata, callback: requestCallback<Message>): ClientWritableStream<Message>;
}
const Things = makeGenericClientConstructor(
  definition,
  'Things',
) as unknown as ClientConstructor<ThingsClient>;

const KEYS = ['0123456789abcdef-of-a-test'];
const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;

describe('the messages of all calls', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** A service that has room for so many bytes, and answers when it is told to. */
  async function start(bytesMax: number, answerLength = 0) {
    const bytes = new ByteBudget(bytesMax);
    const refusals: string[] = [];
    const waiting: (() => void)[] = [];
    const { unary } = grpcHandlers(KEYS, silentLog());
    const handlers = {
      Find: unary(
        () =>
          new Promise<Message>((resolve) =>
            waiting.push(() => resolve({ text: 'found'.padEnd(answerLength) })),
          ),
      ),
      async Send(call: ServerReadableStream<Message, Message>, callback: sendUnaryData<Message>) {
        const texts: string[] = [];
        for await (const { text } of call as AsyncIterable<Message>) texts.push(text);
        callback(null, { text: texts.map(({ length }) => length).join() });
      },
    };
    const server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [{ definition, handlers }], {
      bytes,
      refused: (scope) => {
        refusals.push(scope);
        return new Problem('overloaded', `no room for ${scope}`);
      },
    });
    closers.push(server.close);
    const metrics = new Registry();
    const client = serviceClient('things', Things, `127.0.0.1:${server.port}`, KEYS, metrics);
    closers.push(client.close);
    const find = (tenantId: string, length: number, deadlineMilliseconds?: number) => {
      const caller: Caller = { tenantId, userId: 'ada', userName: 'Ada', permissions: [] };
      const options = deadlineMilliseconds === undefined ? {} : { deadlineMilliseconds };
      return client.call('Find', { text: 'x'.repeat(length) }, caller, options);
    };
    const send = async (tenantId: string, ...lengths: number[]): Promise<string> => {
      const caller: Caller = { tenantId, userId: 'ada', userName: 'Ada', permissions: [] };
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const stream = client.client.Send(client.identity('Send', caller), (error, response) =>
        error ? reject(error) : resolve(response!.text),
      );
      for (const length of lengths) stream.write({ text: 'x'.repeat(length) });
      stream.end();
      return promise;
    };
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
    };
    return { bytes, refusals, waiting, find, send, until, metrics };
  }

  it('are counted until the call ends', async () => {
    const { bytes, waiting, find, until } = await start(100 * KIBIBYTE);
    const answered = find('acme', 40 * KIBIBYTE);
    await until(() => waiting.length === 1);
    expect(bytes.usedBytes).toBe(40 * KIBIBYTE);
    waiting[0]!();
    await answered;
    await until(() => bytes.usedBytes === 0);
  });

  it('may be four mebibytes long on their way to a service, and several times that on their way back', async () => {
    const { waiting, find, until } = await start(100 * MEBIBYTE, 20 * MEBIBYTE);
    const answered = find('acme', 3 * MEBIBYTE);
    await until(() => waiting.length === 1);
    waiting[0]!();

    expect((await answered).text).toHaveLength(20 * MEBIBYTE);
    await expect(find('acme', 5 * MEBIBYTE)).rejects.toMatchObject({ kind: 'internal' });
    expect(waiting).toHaveLength(1);
  });

  it('are refused where a tenant holds its share, before a handler sees them; others are served', async () => {
    const { refusals, waiting, find, until } = await start(100 * KIBIBYTE);
    const held = find('acme', 40 * KIBIBYTE);
    await until(() => waiting.length === 1);
    // Twice the time that its attempts and the pauses between them take.
    await expect(find('acme', 40 * KIBIBYTE, 1_450)).rejects.toMatchObject({
      kind: 'overloaded',
      detail: 'no room for tenant',
    });
    // It is sent again until its time is over.
    expect([new Set(refusals), waiting.length]).toEqual([new Set(['tenant']), 1]);
    const other = find('globex', 40 * KIBIBYTE);
    await until(() => waiting.length === 2);
    waiting.forEach((answer) => answer());
    await Promise.all([held, other]);
  });

  it('are sent again by our clients until there is room', async () => {
    const { refusals, waiting, find, until } = await start(100 * KIBIBYTE);
    const held = find('acme', 60 * KIBIBYTE);
    await until(() => waiting.length === 1);
    const repeated = find('globex', 60 * KIBIBYTE);
    await until(() => refusals.length === 1);
    waiting[0]!();
    await held;
    await until(() => waiting.length === 2);
    waiting[1]!();
    await repeated;
    expect(new Set(refusals)).toEqual(new Set(['all']));
  });

  it('of one tenant leave calls for the next, however many there are and however long they take', async () => {
    const { waiting, find, until, metrics } = await start(MEBIBYTE);
    const held = Array.from({ length: 40 }, () => find('acme', 1));
    await until(() => waiting.length === 6);
    const other = find('globex', 1);
    await until(() => waiting.length === 7);
    waiting.at(-1)!();
    await other;
    const unsent = find('acme', 1, 100);
    await expect(unsent).rejects.toMatchObject({
      kind: 'overloaded',
      detail: 'The service things has too many calls already; try again.',
    });
    await expect(unsent).rejects.toBeInstanceOf(CallNotSent);
    const shown = await metrics.metrics();
    expect(shown).toContain('plinth_places_taken{places="grpc-calls-things"} 6');
    expect(shown).toContain('plinth_places_waiting{places="grpc-calls-things"} 34');
    expect(shown).toContain('plinth_places_refused_total{places="grpc-calls-things",scope="tenant"} 1');
    expect(shown).toContain('plinth_places_wait_seconds_count{places="grpc-calls-things"} 1');
    const answering = setInterval(() => waiting.splice(0).forEach((answer) => answer()), 1);
    closers.push(() => clearInterval(answering));
    await Promise.all(held);
  });

  it('of a stream wait until there is room', async () => {
    const { bytes, refusals, waiting, find, send, until } = await start(100 * KIBIBYTE);
    const held = find('acme', 60 * KIBIBYTE);
    await until(() => waiting.length === 1);
    const lengths = [10, 20, 15].map((length) => length * KIBIBYTE);
    const streamed = send('globex', ...lengths);
    await until(() => bytes.usedBytes === 70 * KIBIBYTE);
    waiting[0]!();
    expect(await streamed).toBe(lengths.join());
    await held;
    await until(() => bytes.usedBytes === 0);
    expect(refusals).toEqual([]);
  });
});
