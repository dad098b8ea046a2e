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

/** A person wrote an entry. */
export const entryAdded = eventType('timeline.entry-added', EntryEvent);

/** An entry was written that mentions people, or about an entity that others follow: they are to be notified. */
export const notificationsDue = eventType('timeline.notifications-due', z.object({ entryId: z.uuid() }));

/** An entry was removed. */
export const entryRemoved = eventType('timeline.entry-removed', EntryEvent);

export const timelineEvents = { entryAdded, notificationsDue, entryRemoved };
