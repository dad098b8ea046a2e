import {
  deleteDelegation,
  getDelegation,
  getDelegations,
  postDelegation,
} from '@plinth/contracts/workflow/endpoints';
import { workflowProblems } from '@plinth/contracts/workflow/problems';
import type { Api } from '@plinth/conventions/api';
import { created, noContent } from '@plinth/conventions/reply';
import type { Caller } from '@plinth/kernel/caller';
import { forbidden } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { Deps } from '../compose';
import { delegate, type Delegation } from '../domain/delegation';

export function mountDelegations(
  api: Api,
  { delegations, clock }: Pick<Deps, 'delegations' | 'clock'>,
): void {
  /** Nobody learns of delegations between others. */
  const find = async ({ tenantId, userId }: Caller, id: string): Promise<Delegation> => {
    const delegation = await delegations.find(tenantId, id);
    const concerns = delegation && [delegation.delegatorId, delegation.delegateId].includes(userId);
    if (!concerns) throw workflowProblems['delegation-not-found'](`There is no delegation ${id}.`);
    return delegation;
  };

  api.on(getDelegations, async ({ caller: { tenantId, userId } }) =>
    (await delegations.ofUser(tenantId, userId, clock.now())).map(toShape),
  );

  api.on(getDelegation, async ({ params, caller }) => toShape(await find(caller, params.delegationId)));

  api.on(postDelegation, async ({ body, caller }) => {
    const now = clock.now();
    const { delegateId } = body;
    const from = body.from ? new Date(body.from) : now;
    const made = delegate(caller, { delegateId, from, until: new Date(body.until) }, { id: newId(), now });
    const kept = await delegations.insert(caller.tenantId, made, caller.operationId);
    return created(toShape(kept), `/workflow/delegations/${kept.id}`);
  });

  api.on(deleteDelegation, async ({ params, caller }) => {
    const { id, delegatorId } = await find(caller, params.delegationId);
    if (delegatorId !== caller.userId) throw forbidden('Only who gave a delegation may withdraw it.');
    await delegations.delete(caller.tenantId, id);
    return noContent();
  });
}

const toShape = ({ permissions: _permissions, ...delegation }: Delegation) => delegation;
