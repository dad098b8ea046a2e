import { createServer } from 'node:http';
import type { Endpoints } from '@plinth/contracts/endpoint';
import { allEndpoints } from '@plinth/contracts/all';
import { createService, type ServiceContext } from '@plinth/http/api';
import { finish, HEADER_BYTES_MAX } from '@plinth/http/serve';
import { serveGrpc } from '@plinth/runtime/rpc/grpc';
import { listen } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { exampleResponse } from './example-response';
import { grpcStubs } from './grpc-stubs';

/** Where a service stub listens; 0 takes a free port. */
export interface StubPorts {
  service: string;
  httpPort: number;
  grpcPort: number;
}

/**
 * Stands for services: over HTTP with examples of the responses in their contracts, over gRPC as a service that has
 * nothing. Returns the ports.
 */
export async function serveServiceStubs(
  wanted: readonly StubPorts[],
  context: ServiceContext & { config: { HTTP_HOST: string } },
  onClose: (close: Close) => void,
): Promise<StubPorts[]> {
  const { config, log } = context;
  return Promise.all(
    wanted.map(async ({ service, httpPort, grpcPort }) => {
      const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, appOf(service, context));
      const http = await listen(server, httpPort, config.HTTP_HOST);
      onClose(() => finish(server));
      const grpc = await serveGrpc({ ...config, GRPC_PORT: grpcPort }, grpcStubs(config.CALLER_KEYS, log));
      onClose(grpc.close);
      return { service, httpPort: http, grpcPort: grpc.port };
    }),
  );
}

function appOf(service: string, context: ServiceContext) {
  const endpoints: Endpoints = (allEndpoints as Record<string, Endpoints>)[service] ?? {};
  return createService(service, endpoints, context, (api) => {
    for (const endpoint of Object.values(endpoints)) {
      const respond = exampleResponse(service, endpoint);
      api.on(
        endpoint,
        async ({ params, query, body }) =>
          respond(params, { ...query, ...(body as object | undefined) }) as never,
      );
    }
  });
}
