import { ContactStage } from '@plinth/contracts/contacts/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import type { ApplyRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/ApplyRequest';
import type { ApplyResponse } from '@plinth/proto/generated/plinth/workflow/v1/ApplyResponse';
import type { DescribeRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/DescribeRequest';
import type { DescribeResponse } from '@plinth/proto/generated/plinth/workflow/v1/DescribeResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/rpc/grpc';
import type { Deps } from '../compose';
import { CONTACT_ENTITY_TYPE, objectionsTo } from '../domain/stage';

/** Workflow decides about transitions of contacts; they are applied here. */
export function entityOwner({
  config,
  log,
  stageTransitions,
}: Pick<Deps, 'config' | 'log' | 'stageTransitions'>): GrpcService {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Describe = unary<DescribeRequest__Output, DescribeResponse>(async (request, caller) => {
    const { tenantId } = requireCaller(caller);
    const contact = await stageTransitions.find(tenantId, contactIdOf(request));
    if (!contact) return { exists: false, state: ContactStage.Prospect, objections: [] };
    return {
      exists: true,
      state: contact.stage,
      objections: objectionsTo(contact).map(({ stage, reason }) => ({
        targetState: stage,
        reason,
        concernsCaller: false,
      })),
    };
  });

  const Apply = unary<ApplyRequest__Output, ApplyResponse>(async (request, caller) => {
    const actor = actorOf(request, requireCaller(caller));
    const contactId = contactIdOf(request);
    const to = Object.values(ContactStage).find((stage) => stage === request.to);
    if (to === undefined) return { outcome: 'STATE_CHANGED', state: ContactStage.Prospect, reason: '' };
    const result = await stageTransitions.apply(actor, {
      id: request.moveId,
      contactId,
      from: request.from,
      to,
      comment: request.comment || null,
      notAfter: request.notAfter ? new Date(request.notAfter) : null,
    });
    const state = result.stage ?? ContactStage.Prospect;
    return result.applied
      ? { outcome: 'MOVED', state, reason: '', movedBy: result.appliedBy }
      : { outcome: 'STATE_CHANGED', state, reason: result.reason ?? '', movedBy: '' };
  });

  return { definition: protoPackages.workflow.v1.EntityOwner.service, handlers: { Describe, Apply } };
}

/**
 * The id of the contact; an id that is malformed is the id of none, and so is another spelling of one: approvals and
 * history would be those of several entities.
 */
function contactIdOf({ entityType, entityId }: { entityType: string; entityId: string }): string {
  if (entityType !== CONTACT_ENTITY_TYPE)
    throw malformed(`Entities of the type ${entityType} do not belong to the contacts service.`);
  return isUuid(entityId) && entityId === entityId.toLowerCase() ? entityId : NO_CONTACT;
}

const NO_CONTACT = '00000000-0000-0000-0000-000000000000';

/** The user in whose name the transition happens: whom workflow names, else the caller. */
const actorOf = ({ actorId, actorName }: ApplyRequest__Output, caller: Caller): Caller => ({
  ...caller,
  userId: actorId || caller.userId,
  userName: actorName || caller.userName,
});

function requireCaller(caller: Caller | null): Caller {
  if (caller) return caller;
  throw forbidden('The stage of a contact can be read and changed only on behalf of a caller.');
}
