import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/** The event of the chaos test: an amount was added to a counter. */
export const counted = eventType(
  'chaos.counted',
  z.object({ counter: z.string(), amount: z.int(), position: z.int(), isPoison: z.boolean() }),
);
