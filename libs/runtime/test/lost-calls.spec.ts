import { once } from 'node:events';
import {
  credentials,
  makeGenericClientConstructor,
  type Client,
  type ClientReadableStream,
  type Metadata,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { grpcHandlers, serveGrpc, serviceClient, type ClientConstructor } from '@plinth/runtime/rpc/grpc';
import { ALL_BUT_TIMEOUTS } from '@plinth/testing/all-but';
import { TEST_KEYS } from '@plinth/testing/http';
import { startSilentProxy } from '@plinth/testing/silent-proxy';

const definition = {
  Listen: {
    path: '/test.Things/Listen',
    requestStream: false,
    responseStream: true,
    requestSerialize: (text: string) => Buffer.from(text),
    requestDeserialize: String,
    responseSerialize: (text: string) => Buffer.from(text),
    responseDeserialize: String,
  },
};
interface ThingsClient extends Client {
  Listen(request: string, identity: Metadata): ClientReadableStream<string>;
}
const Things = makeGenericClientConstructor(
  definition,
  'Things',
) as unknown as ClientConstructor<ThingsClient>;

const opened: Close[] = [];
afterEach(async () => {
  const closed = closeAll(opened.splice(0), silentLog());
  // A server gives the connection of a lost client as long to end as any other.
  await jest.advanceTimersByTimeAsync(10_000);
  await closed;
  jest.useRealTimers();
});

describe('a call whose client was lost without a word, with its machine', () => {
  it('ends, and with it what it holds', async () => {
    const cancelled = Promise.withResolvers<void>();
    const { streamed } = grpcHandlers(TEST_KEYS, silentLog());
    const handlers = {
      Listen: streamed(async (call: ServerWritableStream<string, string>) => {
        call.write('begun');
        await once(call, 'cancelled');
        cancelled.resolve();
      }),
    };
    // On a busy machine an answer may come later than any short time for it.
    jest.useFakeTimers({ doNotFake: ALL_BUT_TIMEOUTS });
    const server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [{ definition, handlers }]);
    opened.push(server.close);
    const proxy = await startSilentProxy(server.port);
    opened.push(proxy.close);
    const things = serviceClient('things', Things, `127.0.0.1:${proxy.port}`, TEST_KEYS);
    opened.push(things.close);
    // Our own clients ask whether the server is there, and would end the call in time.
    const client = new Things(`127.0.0.1:${proxy.port}`, credentials.createInsecure());
    opened.push(() => client.close());
    const call = client.Listen('all', things.identity('Listen', null));
    call.on('error', () => undefined);
    await once(call, 'data');

    proxy.lose();
    await jest.advanceTimersByTimeAsync(20_000);

    await cancelled.promise;
  });
});
