import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import { protoPackages } from '@plinth/proto/packages';
import type { GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { historyExchange } from './exchange';

/** What siblings may ask. */
export const grpcServices = (deps: Deps): GrpcService[] => [
  serveExchange(protoPackages.exchange.v1.ExchangeOwner.service, [historyExchange], deps),
];
