import { eventType, type EventType } from '@plinth/kernel/event';
import { z } from 'zod';

const ENTITIES_MAX = 5_000;
/** It may be stored once for each entity. */
const NotedText = z.string().max(500);

/** A system log that a service wants in the timelines of its own entities. */
export const EntityNoted = z.object({
  entityType: z.string(),
  entityIds: z.array(z.string()).min(1).max(ENTITIES_MAX),
  /** Readers see the text of their language, and English where there is none. */
  texts: z.object({ en: NotedText, fr: NotedText }),
});

/** The event by which a service publishes it, such as `contacts.entity-noted`. */
export const entityNoted = <Service extends string>(service: Service) =>
  eventType(`${service}.entity-noted`, EntityNoted);

/** Whether an event of the catalogue is of this kind, for any service. */
export const isEntityNoted = (type: EventType): type is EventType<typeof EntityNoted> =>
  type.payload === EntityNoted;
