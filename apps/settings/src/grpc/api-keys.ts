import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { forbidden } from '@plinth/kernel/problem';
import type { ApiKeyRevocation } from '@plinth/proto/generated/plinth/settings/v1/ApiKeyRevocation';
import type { FindApiKeyRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/FindApiKeyRequest';
import type { FindApiKeyResponse } from '@plinth/proto/generated/plinth/settings/v1/FindApiKeyResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { signalOf } from '@plinth/runtime/rpc/streamed-call';
import type { Deps } from '../compose';

/** What the gateway asks about API keys. */
export function serveApiKeys({
  config,
  log,
  health,
  apiKeys,
  revocations,
}: Pick<Deps, 'config' | 'log' | 'health' | 'apiKeys' | 'revocations'>): GrpcService {
  const { callerOf, streamed, unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Find = unary<FindApiKeyRequest__Output, FindApiKeyResponse>(async ({ hash }, caller) => {
    if (caller) throw forbiddenToCallers();
    const row = await apiKeys.findInUse(hash);
    if (!row) return {};
    const { id, tenantId, permissions, createdBy, createdByName, expiresAt, revokedAt } = row;
    return {
      key: {
        id,
        tenantId,
        permissions,
        userId: createdBy,
        userName: createdByName,
        expiresAt: expiresAt.getTime(),
        isRevoked: revokedAt !== null,
      },
    };
  });

  const WatchRevocations = streamed(async (call: ServerWritableStream<unknown, ApiKeyRevocation>) => {
    if (callerOf(call.metadata, call.getPath())) throw forbiddenToCallers();
    const end = AbortSignal.any([health.draining, signalOf(call)]);
    const unwatch = revocations.watch((id) => call.write({ id }));
    call.write({});
    if (!end.aborted) await once(end, 'abort');
    unwatch();
  });

  return {
    definition: protoPackages.settings.v1.ApiKeys.service,
    handlers: { Find, WatchRevocations },
  };
}

const forbiddenToCallers = () => forbidden('Only the gateway may ask about API keys.');
