import type { Caller } from '@plinth/kernel/caller';
import { refusalOf, type StageTransition, type TransitionResult } from '../domain/stage';
import { publishStageChanged } from '../events/published';
import type { Contact, Prisma } from '../generated/client';
import type { StoreParts } from './record-store';

export interface StageTransitions {
  find(tenantId: string, contactId: string): Promise<Contact | null>;
  /** Applies a transition once, however often it is repeated; the first caller counts. */
  apply(caller: Caller, transition: StageTransition): Promise<TransitionResult>;
}

export function stageTransitions({ db, clock }: StoreParts): StageTransitions {
  const readLocked = async (tx: Prisma.TransactionClient, tenantId: string, id: string) => {
    await tx.$queryRawUnsafe(
      'SELECT id FROM contact WHERE tenant_id = $1::uuid AND id = $2::uuid FOR UPDATE',
      tenantId,
      id,
    );
    return tx.contact.findUnique({ where: { tenantId_id: { tenantId, id } } });
  };

  return {
    find: (tenantId, id) =>
      db.inTenant(tenantId, (tx) => tx.contact.findUnique({ where: { tenantId_id: { tenantId, id } } })),

    async apply(caller, transition) {
      const { tenantId, userId } = caller;
      const { id, contactId, to } = transition;
      return db.inTenant(tenantId, async (tx): Promise<TransitionResult> => {
        const contact = await readLocked(tx, tenantId, contactId);
        const first = await tx.contactMove.findUnique({ where: { tenantId_id: { tenantId, id } } });
        if (first) return { applied: true, stage: first.newStage, appliedBy: first.movedBy };
        const now = clock.now();
        const refusal = refusalOf(contact, transition, now);
        if (refusal) return refusal;

        await tx.contactMove.create({
          data: { tenantId, id, contactId, newStage: to, movedAt: now, movedBy: userId },
        });
        await tx.contact.update({
          where: { tenantId_id: { tenantId, id: contactId } },
          data: { stage: to, version: { increment: 1 }, changedAt: now, changedBy: userId },
        });
        await publishStageChanged(tx, caller, transition, now);
        return { applied: true, stage: to, appliedBy: userId };
      });
    },
  };
}
