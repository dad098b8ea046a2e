import { TemplateLifecycleStatus as Status } from '@plinth/contracts/template/shapes';
import { serveExchange } from '@plinth/conventions/exchange/serve-exchange';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden, malformed, Problem } from '@plinth/kernel/problem';
import type { ApplyRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/ApplyRequest';
import type { ApplyResponse } from '@plinth/proto/generated/plinth/workflow/v1/ApplyResponse';
import type { DescribeRequest__Output } from '@plinth/proto/generated/plinth/workflow/v1/DescribeRequest';
import type { DescribeResponse } from '@plinth/proto/generated/plinth/workflow/v1/DescribeResponse';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, type GrpcService } from '@plinth/runtime/grpc';
import type { Deps } from '../compose';
import { keyOfEntity, TEMPLATE_ENTITY_TYPE } from '../domain/entity-id';
import { isApprovalNeeded, move, objectionTo, type Template } from '../domain/template';
import { templatesExchange } from './exchange';

type Needs = Pick<
  Deps,
  'config' | 'log' | 'exchangePool' | 'outbox' | 'templates' | 'renderer' | 'settings' | 'clock'
>;

const states = Object.keys(Status) as (keyof typeof Status)[];
const nameOf = (status: Status): string => states.find((name) => Status[name] === status)!;

/** The questions of sibling services that this service answers. */
export function grpcServices(deps: Needs): GrpcService[] {
  const { config, log, exchangePool, outbox } = deps;
  const exchange = serveExchange(
    protoPackages.exchange.v1.ExchangeOwner.service,
    [templatesExchange(() => outbox.wake())],
    { config, log, pool: exchangePool },
  );
  return [entityOwner(deps), exchange];
}

/** The workflow service decides who may move a template; the template is moved here. */
function entityOwner({ config, log, templates, renderer, settings, clock }: Needs): GrpcService {
  const { unary } = grpcHandlers(config.CALLER_KEYS, log);

  const approvalFor = async (tenantId: string, template: Template): Promise<boolean> =>
    isApprovalNeeded(
      template,
      template.requiresApproval === undefined && (await settings.isApprovalRequired(tenantId)),
    );

  const find = (caller: Caller, entityType: string, entityId: string): Promise<Template | undefined> => {
    if (entityType !== TEMPLATE_ENTITY_TYPE)
      throw malformed(`Entities of the type ${entityType} are not kept here.`);
    return templates.find(caller.tenantId, keyOfEntity(entityId));
  };

  const Describe = unary<DescribeRequest__Output, DescribeResponse>(
    async ({ entityType, entityId }, caller) => {
      const template = await find(named(caller), entityType, entityId);
      if (!template) return { exists: false, state: 'Draft', objections: [] };
      const approval = await approvalFor(named(caller).tenantId, template);
      const objections = states
        .filter((name) => Status[name] !== template.status)
        .flatMap((targetState) => {
          const objection = objectionTo(template, Status[targetState], named(caller), approval);
          return objection
            ? [{ targetState, reason: objection.detail, concernsCaller: objection.kind === 'forbidden' }]
            : [];
        });
      return { exists: true, state: nameOf(template.status), objections };
    },
  );

  const Apply = unary<ApplyRequest__Output, ApplyResponse>(async (request, caller) => {
    const asking = named(caller);
    const template = await find(asking, request.entityType, request.entityId);
    const to = states.find((name) => name === request.to);
    if (!template || to === undefined) return { outcome: 'STATE_CHANGED', state: 'Draft', reason: '' };
    const approval = await approvalFor(asking.tenantId, template);
    const mover = {
      ...asking,
      userId: request.actorId || asking.userId,
      userName: request.actorName || asking.userName,
    };
    try {
      if (to === 'Published') await requireParsable(renderer, asking, template);
      const { template: moved, changedBy: movedBy } = await templates.change(
        mover,
        template,
        (current) => {
          if (!current || current.isGone || nameOf(current.status) !== request.from)
            throw new StateChanged(current);
          return move(current, Status[to], approval, { caller: mover, at: clock.now() });
        },
        { operationId: request.moveId, comment: request.comment },
      );
      return { outcome: 'MOVED', state: nameOf(moved.status), movedBy };
    } catch (error) {
      if (error instanceof StateChanged) {
        return {
          outcome: 'STATE_CHANGED',
          state: error.template ? nameOf(error.template.status) : 'Draft',
          reason: '',
        };
      }
      if (!(error instanceof Problem) || !['forbidden', 'conflict', 'invalid'].includes(error.kind))
        throw error;
      const outcome = error.kind === 'forbidden' ? 'DENIED' : 'STATE_CHANGED';
      return { outcome, state: nameOf(template.status), reason: error.detail };
    }
  });

  return {
    definition: protoPackages.workflow.v1.EntityOwner.service,
    handlers: { Describe, Apply },
  };
}

class StateChanged extends Error {
  constructor(readonly template: Template | undefined) {
    super('The template stands elsewhere now.');
  }
}

async function requireParsable(
  renderer: Deps['renderer'],
  caller: Caller,
  { draft, culture }: Template,
): Promise<void> {
  if (!draft) return;
  const { errors } = await renderer.read(caller.tenantId, draft.content, 'newest', culture);
  if (errors.length > 0) throw new Problem('invalid', errors[0]!.message);
}

function named(caller: Caller | null): Caller {
  if (caller) return caller;
  throw forbidden('Templates are moved on behalf of somebody.');
}
