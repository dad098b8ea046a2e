import { contactMoved } from '@plinth/contracts/contacts/events';
import type { ContactStage } from '@plinth/contracts/contacts/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { appendToOutbox } from '@plinth/runtime/outbox';
import { CONTACT_ENTITY_TYPE, objectionTo } from '../domain/stage';
import type { Contact, Prisma } from '../generated/client';
import type { StoreParts } from './record-store';

export interface Move {
  /** The same for every attempt. */
  id: string;
  contactId: string;
  from: string;
  to: ContactStage;
  comment: string | null;
}

export interface Made {
  moved: boolean;
  stage: string | undefined;
  /** Who moved it: of several who ask for one move, the first. */
  movedBy?: string;
  reason?: string;
}

export interface ContactMoves {
  find(tenantId: string, contactId: string): Promise<Contact | null>;
  /** Answers the stage afterwards; a move that cannot be made now says why, where somebody can do something about it. */
  make(mover: Caller, move: Move): Promise<Made>;
}

/** Moves contacts from stage to stage, each move once. */
export function contactMoves({ db, outbox, clock }: StoreParts): ContactMoves {
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

    async make(mover, { id, contactId, from, to, comment }) {
      const { tenantId, userId } = mover;
      const result = await db.inTenant(tenantId, async (tx) => {
        const contact = await readLocked(tx, tenantId, contactId);
        const made = await tx.contactMove.findUnique({ where: { tenantId_id: { tenantId, id } } });
        if (made) return { moved: true, stage: made.newStage, movedBy: made.movedBy };
        if (contact?.stage !== from) return { moved: false, stage: contact?.stage };
        const objection = objectionTo(contact, to);
        if (objection !== undefined) return { moved: false, stage: from, reason: objection };

        const now = clock.now();
        await tx.contactMove.create({
          data: { tenantId, id, contactId, newStage: to, movedAt: now, movedBy: userId },
        });
        await tx.contact.update({
          where: { tenantId_id: { tenantId, id: contactId } },
          data: { stage: to, version: contact.version + 1, changedAt: now, changedBy: userId },
        });
        await appendToOutbox(tx, {
          type: contactMoved,
          tenantId,
          subject: contactId,
          payload: {
            entityType: CONTACT_ENTITY_TYPE,
            entityId: contactId,
            moveId: id,
            previousState: from,
            newState: to,
            comment,
            movedAt: now.toISOString(),
            movedBy: userId,
          },
          actor: mover,
        });
        return { moved: true, stage: to, movedBy: userId };
      });
      outbox.wake();
      return result;
    },
  };
}
