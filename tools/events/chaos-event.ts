import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/** The fact of the chaos test: a counter was told an amount. */
export const counted = eventType(
  'chaos.counted',
  z.object({ counter: z.string(), amount: z.int(), position: z.int(), isPoison: z.boolean() }),
);
