import type { ListDefinitionsRequest__Output } from '@plinth/proto/generated/plinth/exchange/v1/ListDefinitionsRequest';
import type { ListDefinitionsResponse } from '@plinth/proto/generated/plinth/exchange/v1/ListDefinitionsResponse';
import { protoPackages } from '@plinth/proto/packages';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/rpc/grpc';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { connectOwners } from './owners';

const FRESH_MILLISECONDS = 5_000;
const log = silentLog();
const { unary } = grpcHandlers(TEST_KEYS, log);

describe('the owners of definitions', () => {
  const closers: Close[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    await closeAll(closers.splice(0), log);
  });

  /** A service with one definition, and how often it was asked for it. */
  const serve = async (name: string) => {
    const asked = jest.fn(async () => ({ definitions: [{ name, listRules: '{}' }] }));
    const ListDefinitions = unary<ListDefinitionsRequest__Output, ListDefinitionsResponse>(asked);
    const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
      { definition: protoPackages.exchange.v1.ExchangeOwner.service, handlers: { ListDefinitions } },
    ]);
    closers.push(close);
    return { address: `127.0.0.1:${port}`, asked };
  };

  it('are asked for their own definitions only, so that nobody waits for a service that is silent', async () => {
    const [shop, silent] = [await serve('Shop.Articles'), await serve('Silent.Things')];
    const owners = connectOwners({ shop: shop.address, silent: silent.address }, TEST_KEYS, log);
    closers.push(owners.close);
    // A service that is slow is not waited for: all are known once each has been asked in time.
    await eventually(async () => (await owners.list()).length === 2);

    shop.asked.mockClear();
    silent.asked.mockClear().mockReturnValue(new Promise(() => undefined));
    const later = performance.now() + FRESH_MILLISECONDS;
    jest.spyOn(performance, 'now').mockImplementation(() => later);

    expect(await owners.find('Shop.Articles')).toMatchObject({ owner: 'shop' });
    await eventually(() => shop.asked.mock.calls.length === 1);
    expect(silent.asked).not.toHaveBeenCalled();
  });
});
