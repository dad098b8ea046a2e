import { serveExchange } from '@plinth/exchange/serve-exchange';
import type { GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { entityOwner } from './entity-owner';
import { companiesExchange } from '../exchange/companies';
import { contactsExchange } from '../exchange/contacts';

/** The calls that other services make of this one. */
export function grpcServices(
  deps: Pick<Deps, 'config' | 'log' | 'bulkPool' | 'outbox' | 'quotas' | 'ledgerQuota' | 'stageTransitions'>,
): GrpcService[] {
  return [
    entityOwner(deps),
    serveExchange([companiesExchange, contactsExchange], { ...deps, importQuotas: deps.quotas }),
  ];
}
