import { eventType, type EventType } from '@plinth/kernel/event';
import { z } from 'zod';

const ENTITIES_MAX = 5_000;

/** What a service wants to be read in the timelines of its own entities, as the system's words. */
export const EntityNoted = z.object({
  entityType: z.string(),
  entityIds: z.array(z.string()).min(1).max(ENTITIES_MAX),
  /** Each reader is given theirs; who reads another language is given the English words. */
  texts: z.object({ en: z.string(), fr: z.string() }),
});

/** The fact under which the service of this area tells it, such as `contacts.entity-noted`. */
export const entityNoted = <Area extends string>(area: Area) =>
  eventType(`${area}.entity-noted`, EntityNoted);

/** Whether a fact of the catalogue is of this kind, whichever area tells it. */
export const isEntityNoted = (type: EventType): type is EventType<typeof EntityNoted> =>
  type.payload === EntityNoted;
