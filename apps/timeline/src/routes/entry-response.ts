import type { TimelineStreamEntry } from '@plinth/contracts/timeline/shapes';
import type { Entry } from '../domain/entry';
import { bodyIn, type SystemCulture } from '../domain/system-text';

/** An entry as its reader sees it: system logs in their culture. */
export const toEntryResponse = (
  { message, ...entry }: Entry,
  culture: SystemCulture,
): TimelineStreamEntry => ({ ...entry, body: bodyIn(culture, { ...entry, message }) });
