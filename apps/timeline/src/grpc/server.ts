import { serveExchange } from '@plinth/exchange/serve-exchange';
import type { GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { entryExchange } from '../exchange/entries';

/** The calls of other services that this service serves. */
export const grpcServices = (deps: Pick<Deps, 'config' | 'log' | 'bulkPool' | 'outbox'>): GrpcService[] => [
  serveExchange([entryExchange], deps),
];
