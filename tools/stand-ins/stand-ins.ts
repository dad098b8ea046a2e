import { createServer } from 'node:http';
import type { Endpoints } from '@plinth/contracts/endpoint';
import { allEndpoints } from '@plinth/contracts/all';
import { createService, type ServiceContext } from '@plinth/conventions/api';
import { finish, HEADER_BYTES_MAX } from '@plinth/conventions/serve';
import { serveGrpc } from '@plinth/runtime/grpc';
import { listen } from '@plinth/runtime/health';
import type { Close } from '@plinth/runtime/lifecycle';
import { exampleAnswer } from './example-answer';
import { standInGrpc } from './stand-in-grpc';

/** Where a stand-in listens; 0 takes a free port. */
export interface StandInPorts {
  area: string;
  httpPort: number;
  grpcPort: number;
}

/**
 * Serves areas without their services: HTTP as their contracts promise, with examples, and gRPC as a service that has
 * nothing. Answers the ports.
 */
export async function serveStandIns(
  wanted: readonly StandInPorts[],
  context: ServiceContext & { config: { HTTP_HOST: string } },
  onClose: (close: Close) => void,
): Promise<StandInPorts[]> {
  const { config, log } = context;
  return Promise.all(
    wanted.map(async ({ area, httpPort, grpcPort }) => {
      const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, appOf(area, context));
      const http = await listen(server, httpPort, config.HTTP_HOST);
      onClose(() => finish(server));
      const grpc = await serveGrpc({ ...config, GRPC_PORT: grpcPort }, standInGrpc(config.CALLER_KEYS, log));
      onClose(grpc.close);
      return { area, httpPort: http, grpcPort: grpc.port };
    }),
  );
}

function appOf(area: string, context: ServiceContext) {
  const endpoints: Endpoints = (allEndpoints as Record<string, Endpoints>)[area] ?? {};
  return createService(area, endpoints, context, (api) => {
    for (const endpoint of Object.values(endpoints)) {
      const answer = exampleAnswer(area, endpoint);
      api.on(
        endpoint,
        async ({ params, query, body }) =>
          answer(params, { ...query, ...(body as object | undefined) }) as never,
      );
    }
  });
}
