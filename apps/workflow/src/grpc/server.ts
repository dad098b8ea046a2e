import { serveExchange } from '@plinth/exchange/serve-exchange';
import type { GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { historyExchange } from '../exchange/history';

/** The gRPC services that other services may call. */
export const grpcServices = (deps: Deps): GrpcService[] => [serveExchange([historyExchange], deps)];
