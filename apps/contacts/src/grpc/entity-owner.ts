import { ContactStage } from '@plinth/contracts/contacts/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import type { ApplyRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/ApplyRequest';
import type { ApplyResponse } from '@plinth/proto/generated/plinth/workflow/v1/ApplyResponse';
import type { DescribeRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/DescribeRequest';
import type { DescribeResponse } from '@plinth/proto/generated/plinth/workflow/v1/DescribeResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { CONTACT_ENTITY_TYPE, objectionTo } from '../domain/stage';

const stages = Object.values(ContactStage);

/** Workflow decides who may move a contact; the contact is moved here. */
export function entityOwner({ config, log, moves }: Pick<Deps, 'config' | 'log' | 'moves'>): GrpcService {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const Describe = unary<DescribeRequest__Output, DescribeResponse>(async (request, caller) => {
    const contact = await moves.find(named(caller).tenantId, contactIdOf(request));
    if (!contact) return { exists: false, state: ContactStage.Prospect, objections: [] };
    const objections = stages.flatMap((targetState) => {
      const reason = objectionTo(contact, targetState);
      return reason === undefined ? [] : [{ targetState, reason, concernsCaller: false }];
    });
    return { exists: true, state: contact.stage, objections };
  });

  const Apply = unary<ApplyRequest__Output, ApplyResponse>(async (request, caller) => {
    const asking = named(caller);
    const contactId = contactIdOf(request);
    const to = stages.find((stage) => stage === request.to);
    if (to === undefined) return { outcome: 'STATE_CHANGED', state: ContactStage.Prospect, reason: '' };
    const { actorId: userId, actorName: userName, from, moveId: id, comment } = request;
    const mover = { ...asking, userId: userId || asking.userId, userName: userName || asking.userName };
    const { moved, stage, movedBy, reason } = await moves.make(mover, {
      id,
      contactId,
      from,
      to,
      comment: comment || null,
    });
    return {
      outcome: moved ? 'MOVED' : 'STATE_CHANGED',
      state: stage ?? ContactStage.Prospect,
      reason: reason ?? '',
      movedBy: movedBy ?? '',
    };
  });

  return { definition: protoPackages.workflow.v1.EntityOwner.service, handlers: { Describe, Apply } };
}

/** The id of a contact; what is no id at all is the id of none. */
function contactIdOf({ entityType, entityId }: { entityType: string; entityId: string }): string {
  if (entityType !== CONTACT_ENTITY_TYPE)
    throw malformed(`The stage of entities of the type ${entityType} is not kept here.`);
  return isUuid(entityId) ? entityId : NO_CONTACT;
}

const NO_CONTACT = '00000000-0000-0000-0000-000000000000';

function named(caller: Caller | null): Caller {
  if (caller) return caller;
  throw forbidden('Contacts are moved on behalf of somebody.');
}
