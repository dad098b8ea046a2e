import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import { created, noContent } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { Deps } from '../compose';
import { delegate, type Delegation } from '../domain/delegation';
import { delegationNotFound, delegationNotForKeys, delegationOfOther } from '../domain/problems';
import { toDelegationResponse } from './delegation-response';

const { getDelegations, getDelegation, postDelegation, deleteDelegation } = workflowEndpoints;

export function mountDelegations(
  api: Api,
  { delegations, clock }: Pick<Deps, 'delegations' | 'clock'>,
): void {
  api.on(getDelegations, async ({ caller: { tenantId, userId } }) =>
    (await delegations.ofUser(tenantId, userId, clock.now())).map(toDelegationResponse),
  );

  api.on(getDelegation, async ({ params: { delegationId }, caller }) => {
    const delegation = await delegations.find(caller.tenantId, delegationId);
    return toDelegationResponse(visibleTo(caller, delegationId, delegation));
  });

  api.on(postDelegation, async ({ body, caller }) => {
    // It would go on when the key is revoked.
    if (caller.apiKeyId !== undefined) throw delegationNotForKeys();
    const now = clock.now();
    const { delegateId } = body;
    const from = body.from ? new Date(body.from) : now;
    const delegation = delegate(
      caller,
      { delegateId, from, until: new Date(body.until) },
      { id: newId(), now },
    );
    const saved = await delegations.insert(caller, delegation);
    return created(toDelegationResponse(saved), `/workflow/delegations/${saved.id}`);
  });

  api.on(deleteDelegation, async ({ params: { delegationId }, caller }) => {
    await delegations.delete(caller, delegationId, (delegation) => {
      const { delegatorId } = visibleTo(caller, delegationId, delegation);
      if (delegatorId !== caller.userId) throw delegationOfOther();
    });
    return noContent();
  });
}

/** Delegations between other users do not exist for the caller. */
function visibleTo({ userId }: Caller, id: string, delegation: Delegation | undefined): Delegation {
  const isVisible = delegation && [delegation.delegatorId, delegation.delegateId].includes(userId);
  if (!isVisible) throw delegationNotFound(id);
  return delegation;
}
