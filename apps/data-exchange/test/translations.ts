import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { TEST_KEYS } from '@plinth/testing/http';

interface Asked {
  cultureName: string;
  resources: { resourceName: string; keys: string[] }[];
}

/** A localization area that knows what failed rows are told in French. */
export async function startTranslations(french: Record<string, string>) {
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const ResolveTexts = unary<Asked, object>(async ({ cultureName, resources }) => ({
    cultureName,
    texts: resources.flatMap(({ resourceName, keys }) =>
      keys.flatMap((key) => {
        const value = cultureName === 'fr' ? french[`${resourceName}:${key}`] : undefined;
        return value === undefined ? [] : [{ resourceName, key, value }];
      }),
    ),
  }));
  const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
    { definition: protoPackages.localization.v1.Localization.service, handlers: { ResolveTexts } },
  ]);
  return { address: `127.0.0.1:${port}`, close };
}
