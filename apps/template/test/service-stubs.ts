import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { TEST_KEYS } from '@plinth/testing/http';

/** What the stubs of settings and localization respond; tests change it as they go. */
export interface ServiceStubs {
  /** By tenant, then by name of the setting. */
  settings: Map<string, Record<string, string>>;
  /** By culture, then by `Resource:key`. */
  texts: Record<string, Record<string, string>>;
  address: string;
  close(): Promise<void> | void;
}

/** Serves the calls that this service makes, from the data of a test. */
export async function startServiceStubs(): Promise<ServiceStubs> {
  const settings: ServiceStubs['settings'] = new Map();
  const texts: ServiceStubs['texts'] = {};
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const Resolve = unary<{ tenantId: string; names: string[] }, object>(async ({ tenantId, names }) => ({
    settings: names.flatMap((name) => {
      const value = settings.get(tenantId)?.[name];
      return value === undefined ? [] : [{ name, value, isSecret: false }];
    }),
  }));
  const RegisterDefinitions = unary<object, object>(async () => ({}));
  type ResolveTextsRequest = { cultureName: string; resources: { resourceName: string; keys: string[] }[] };
  const ResolveTexts = unary<ResolveTextsRequest, object>(async ({ cultureName, resources }) => ({
    cultureName,
    texts: resources.flatMap(({ resourceName, keys }) =>
      keys.flatMap((key) => {
        const value = texts[cultureName]?.[`${resourceName}:${key}`];
        return value === undefined ? [] : [{ resourceName, key, value }];
      }),
    ),
  }));
  const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
    { definition: protoPackages.settings.v1.Settings.service, handlers: { Resolve, RegisterDefinitions } },
    { definition: protoPackages.localization.v1.Localization.service, handlers: { ResolveTexts } },
  ]);
  return { settings, texts, address: `127.0.0.1:${port}`, close };
}
