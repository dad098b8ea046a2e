import { entityMoved } from '@plinth/contracts/workflow/events';
import { subscription, type Subscription } from '@plinth/runtime/messaging/subscription';
import type { Prisma } from '../generated/client';
import { recordOwnerMove } from '../store/owner-move-store';

/** The moves that these services make of the entities they own. */
export const subscriptions = (ownerServices: readonly string[]): Subscription<Prisma.TransactionClient>[] =>
  ownerServices.map((service) => subscription(entityMoved(service), recordOwnerMove));
