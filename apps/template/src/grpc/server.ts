import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { serveExchange } from '@plinth/exchange/serve-exchange';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed } from '@plinth/kernel/problem';
import type { ApplyRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/ApplyRequest';
import type { ApplyResponse } from '@plinth/proto/generated/plinth/workflow/v1/ApplyResponse';
import type { DescribeRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/DescribeRequest';
import type { DescribeResponse } from '@plinth/proto/generated/plinth/workflow/v1/DescribeResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { keyOfEntity, TEMPLATE_ENTITY_TYPE } from '../domain/entity-id';
import { nameOfStatus, statusOfName, textVersionOf } from '../domain/template';
import type { TemplateKey } from '../domain/template-key';
import { templatesExchange } from '../exchange/templates';

type Needs = Pick<
  Deps,
  'config' | 'log' | 'bulkPool' | 'outbox' | 'lifecycle' | 'revisionQuota' | 'ledgerQuota'
>;

/** What this service serves over gRPC: its entities for the workflow service, and its exchange. */
export function grpcServices(deps: Needs): GrpcService[] {
  // Each imported row becomes a revision.
  const importQuotas = { template: deps.revisionQuota };
  const exchange = serveExchange([templatesExchange], { ...deps, importQuotas });
  return [entityOwner(deps), exchange];
}

/** The state of a template that does not exist: a new one begins as a draft. */
const INITIAL_STATE = nameOfStatus(Status.Draft);

/** The workflow service decides who may move a template; the template is moved here. */
function entityOwner({ config, log, lifecycle }: Needs): GrpcService {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Describe = unary<DescribeRequest__Output, DescribeResponse>(
    async ({ entityType, entityId }, maybeCaller) => {
      const caller = requireCaller(maybeCaller);
      const key = keyOf(entityType, entityId);
      const found = key && (await lifecycle.objections(caller, key));
      if (!found) return { exists: false, state: INITIAL_STATE, objections: [] };
      const objections = found.objections.map(({ to, problem }) => ({
        targetState: nameOfStatus(to),
        reason: problem.detail,
        concernsCaller: problem.kind === 'forbidden',
      }));
      const { template } = found;
      return {
        exists: true,
        state: nameOfStatus(template.status),
        objections,
        version: textVersionOf(template),
      };
    },
  );

  const Apply = unary<ApplyRequest__Output, ApplyResponse>(async (request, maybeCaller) => {
    const caller = requireCaller(maybeCaller);
    const key = keyOf(request.entityType, request.entityId);
    const to = statusOfName(request.to);
    if (key === undefined || to === undefined)
      return { outcome: 'STATE_CHANGED', state: INITIAL_STATE, reason: '' };
    const result = await lifecycle.move(caller, key, {
      actor: {
        ...caller,
        userId: request.actorId || caller.userId,
        userName: request.actorName || caller.userName,
      },
      from: statusOfName(request.from),
      to,
      operationId: request.moveId,
      comment: request.comment,
      version: request.version,
      notAfter: request.notAfter ? new Date(request.notAfter) : undefined,
    });
    const state = result.status === undefined ? INITIAL_STATE : nameOfStatus(result.status);
    switch (result.kind) {
      case 'moved':
        return { outcome: 'MOVED', state, movedBy: result.movedBy };
      case 'status-changed':
        return { outcome: 'STATE_CHANGED', state, reason: '' };
      case 'version-changed':
        return { outcome: 'VERSION_CHANGED', state, reason: '' };
      case 'refused': {
        const outcome = result.problem.kind === 'forbidden' ? 'DENIED' : 'STATE_CHANGED';
        return { outcome, state, reason: result.problem.detail };
      }
    }
  });

  return {
    definition: protoPackages.workflow.v1.EntityOwner.service,
    handlers: { Describe, Apply },
  };
}

function keyOf(entityType: string, entityId: string): TemplateKey | undefined {
  if (entityType === TEMPLATE_ENTITY_TYPE) return keyOfEntity(entityId);
  throw malformed(`The template service does not own entities of the type ${entityType}.`);
}

function requireCaller(caller: Caller | null): Caller {
  if (caller) return caller;
  throw forbidden('Transitions of templates require a caller.');
}
