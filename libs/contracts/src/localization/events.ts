import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';

/**
 * A tenant's overrides changed: one fact per write, also for a batch.
 * `version` grows with every change of the tenant; `bundles` names what changed, by resource and culture.
 */
export const overrideChanged = eventType(
  'localization.override-changed',
  z.object({
    version: z.int(),
    changeCount: z.int(),
    bundles: z.array(z.object({ resourceName: z.string(), cultureName: z.string() })),
  }),
);
