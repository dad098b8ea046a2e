import type { ServerDuplexStream, ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { unavailable } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Log } from '@plinth/runtime/process/log';

/** Responses whose fields by default would mean something else than "there is nothing here". */
const responses: Record<string, (request: never) => object> = {
  Apply: () => ({ outcome: 'STATE_CHANGED' }),
  ResolveTexts: ({ cultureName }: { cultureName: string }) => ({ cultureName: cultureName || 'en' }),
};

/**
 * All gRPC services, responding as a service that has nothing: each field has its default, and streams end at once.
 * Callers are verified as everywhere.
 */
export function grpcStubs(callerKeys: readonly string[], log: Log): GrpcService[] {
  const definitions = Object.values(protoPackages).flatMap(({ v1 }) =>
    Object.values(v1).flatMap((entry) => ('service' in entry ? [entry.service as ServiceDefinition] : [])),
  );
  return definitions.map((definition) => ({
    definition,
    handlers: Object.fromEntries(
      Object.entries(definition).map(([name, { requestStream, responseStream }]) => [
        name,
        requestStream || responseStream ? stream(requestStream) : unary(name),
      ]),
    ),
  }));

  function unary(name: string) {
    return grpcHandlers(callerKeys, log).unary(async (request) => responses[name]?.(request as never) ?? {});
  }

  function stream(takesRows: boolean) {
    const { callerOf, streamed } = grpcHandlers(callerKeys, log);
    return streamed(
      async (
        call: ServerWritableStream<object, object> | ServerDuplexStream<object, object>,
      ): Promise<void> => {
        callerOf(call.metadata, call.getPath());
        if (takesRows) throw unavailable('A service stub imports no rows; start the service itself.');
      },
    );
  }
}
