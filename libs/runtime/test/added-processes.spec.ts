import { promises as names } from 'node:dns';
import { makeGenericClientConstructor, type Client, type requestCallback } from '@grpc/grpc-js';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import {
  grpcHandlers,
  serveGrpc,
  serviceClient,
  type ClientConstructor,
  type ServiceClient,
} from '@plinth/runtime/rpc/grpc';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';

const definition = {
  Ask: {
    path: '/test.Things/Ask',
    requestStream: false,
    responseStream: false,
    requestSerialize: (text: string) => Buffer.from(text),
    requestDeserialize: String,
    responseSerialize: (text: string) => Buffer.from(text),
    responseDeserialize: String,
  },
};
interface ThingsClient extends Client {
  Ask(request: string, callback: requestCallback<string>): void;
}
const Things = makeGenericClientConstructor(
  definition,
  'Things',
) as unknown as ClientConstructor<ThingsClient>;

const opened: Close[] = [];
afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await closeAll(opened.splice(0), silentLog());
});

/** A process that says at which address it has been asked. */
async function serve(HTTP_HOST: string, GRPC_PORT = 0): Promise<number> {
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const handlers = { Ask: unary(async () => HTTP_HOST) };
  const server = await serveGrpc({ HTTP_HOST, GRPC_PORT }, [{ definition, handlers }]);
  opened.push(server.close);
  return server.port;
}

/** Says of a name that it has these addresses. */
const answer = (...addresses: string[]) =>
  jest
    .spyOn(names, 'lookup')
    .mockImplementation((async () => addresses.map((address) => ({ address, family: 4 }))) as never);

/** Says of a name that it has these addresses, and waits until it was looked up, as it is every now and then. */
async function change(...addresses: string[]): Promise<void> {
  const asked = answer(...addresses);
  asked.mockClear();
  await eventually(() => {
    jest.advanceTimersByTime(30_000);
    return asked.mock.calls.length > 0;
  });
}

/** Who answers next. */
async function whoAnswers(things: ServiceClient<ThingsClient>): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, () => things.call('Ask', 'who', null)));
  return [...new Set(answers)].sort();
}

describe('the client of a service', () => {
  it('calls who is added under its name, and leaves nobody who has no address for once', async () => {
    const [one, other] = ['127.0.0.1', '127.0.0.2'];
    const port = await serve(one);
    await serve(other, port);
    answer(one);
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    const things = serviceClient('things', Things, `things.test:${port}`, TEST_KEYS);
    opened.push(things.close);
    expect(await whoAnswers(things)).toEqual([one]);

    await change(one, other);
    await eventually(async () => (await whoAnswers(things)).length === 2);

    // As it connected to the other one, gRPC itself asked once more.
    await change(one, other);
    await change(other);
    expect(await whoAnswers(things)).toEqual([one, other]);
  });
});
