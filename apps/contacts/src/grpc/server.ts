import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import { protoPackages } from '@plinth/proto/packages';
import type { GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { entityOwner } from './entity-owner';
import { companiesExchange, contactsExchange } from './exchange';

/** The questions of sibling services that this service answers. */
export function grpcServices(
  deps: Pick<Deps, 'config' | 'log' | 'pool' | 'outbox' | 'moves'>,
): GrpcService[] {
  const wake = () => deps.outbox.wake();
  return [
    entityOwner(deps),
    serveExchange(
      protoPackages.exchange.v1.ExchangeOwner.service,
      [companiesExchange(wake), contactsExchange(wake)],
      deps,
    ),
  ];
}
