import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/**
 * A tenant's overrides changed: one event per write, also for a batch, and several where it changed more bundles than an event
 * names. `bundles` names what changed.
 */
export const overrideChanged = eventType(
  'localization.override-changed',
  z.object({
    changeCount: z.int(),
    bundles: z.array(z.object({ resourceName: z.string(), cultureName: z.string() })),
  }),
);
