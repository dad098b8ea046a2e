import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import { protoPackages } from '@plinth/proto/packages';
import type { GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { entryExchange } from './exchange';

/** The questions of sibling services that this service answers. */
export const grpcServices = (deps: Pick<Deps, 'config' | 'log' | 'pool'>): GrpcService[] => [
  serveExchange(protoPackages.exchange.v1.ExchangeOwner.service, [entryExchange], deps),
];
