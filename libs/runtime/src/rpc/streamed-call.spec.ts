import { once } from 'node:events';
import {
  makeGenericClientConstructor,
  type Client,
  type ClientDuplexStream,
  type Metadata,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import { silentLog } from '../process/log';
import { grpcHandlers, serveGrpc, serviceClient, type ClientConstructor } from './grpc';

interface Message {
  text: string;
}

const serialize = (message: Message): Buffer => Buffer.from(message.text);
const deserialize = (bytes: Buffer): Message => ({ text: bytes.toString() });
const definition = {
  Talk: {
    path: '/test.Things/Talk',
    requestStream: true,
    responseStream: true,
    requestSerialize: serialize,
    requestDeserialize: deserialize,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
  },
};
interface ThingsClient extends Client {
  Talk(identity: Metadata): ClientDuplexStream<Message, Message>;
}
const Things = makeGenericClientConstructor(
  definition,
  'Things',
) as unknown as ClientConstructor<ThingsClient>;

const KEYS = ['0123456789abcdef-of-a-test'];
const caller = { tenantId: 'acme', userId: 'ada', userName: 'Ada', permissions: [] };

describe('a call whose client leaves while its messages are read', () => {
  const premature = Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });

  it.each([
    ['is no failure of the service', premature, 0],
    ['still tells of one', new Error('a bug'), 1],
  ])('%s', async (_, failure, logged) => {
    const log = silentLog();
    const error = jest.spyOn(log, 'error');
    const ended = Promise.withResolvers<void>();
    const { streamed } = grpcHandlers(KEYS, log);
    const handlers = {
      Talk: streamed(async (call: ServerDuplexStream<Message, Message>) => {
        call.write({ text: 'begun' });
        await once(call, 'cancelled');
        ended.resolve();
        throw failure;
      }),
    };
    const server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [{ definition, handlers }]);
    const things = serviceClient('things', Things, `127.0.0.1:${server.port}`, KEYS);
    const call = things.client.Talk(things.identity('Talk', caller));
    call.on('error', () => undefined);
    await once(call, 'data');
    call.cancel();
    await ended.promise;
    await new Promise(setImmediate);
    await things.close();
    await server.close();

    expect(error).toHaveBeenCalledTimes(logged);
  });
});
