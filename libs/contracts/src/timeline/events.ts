import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { TimelineEntryType } from './shapes';

/** Names an entry without its text: what a person may read of it is decided when they read. */
const EntryEvent = z.object({
  entryId: z.uuid(),
  entityType: z.string(),
  entityId: z.string(),
  entryType: z.enum(TimelineEntryType),
});

/** An entry was written: by a person, or by the system about an entity that has followers. */
export const entryAdded = eventType('timeline.entry-added', EntryEvent);

/** An entry was removed. */
export const entryRemoved = eventType('timeline.entry-removed', EntryEvent);

export const timelineEvents = { entryAdded, entryRemoved };
