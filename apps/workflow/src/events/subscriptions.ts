import { entityGone, entityMoved } from '@plinth/contracts/workflow/events';
import { subscription, type Subscription } from '@plinth/runtime/messaging/subscription';
import type { Prisma } from '../generated/client';
import { recordOwnerMove } from '../store/owner-move-store';
import { requireVerification } from '../store/request-verification';

/** What becomes of entities in these services, which own them: their moves, and that they are gone. */
export const subscriptions = (ownerServices: readonly string[]): Subscription<Prisma.TransactionClient>[] =>
  ownerServices.flatMap((service) => [
    subscription(entityMoved(service), recordOwnerMove),
    subscription(entityGone(service), requireVerification),
  ]);
