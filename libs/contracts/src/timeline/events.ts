import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { TimelineEntryType } from './shapes';

/** Names of an entry, never its words: what somebody may read of it is decided when they read. */
const EntryFact = z.object({
  entryId: z.uuid(),
  entityType: z.string(),
  entityId: z.string(),
  entryType: z.enum(TimelineEntryType),
});

/** An entry was written: by a person, or by the system about something that somebody follows. */
export const entryAdded = eventType('timeline.entry-added', EntryFact);

/** An entry was removed. */
export const entryRemoved = eventType('timeline.entry-removed', EntryFact);

export const timelineEvents = { entryAdded, entryRemoved };
