import type { IncomingMessage } from 'node:http';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { TimelineStreamEntry } from '@plinth/contracts/timeline/shapes';
import type { Api } from '@plinth/conventions/api';
import { created, noContent } from '@plinth/conventions/reply';
import type { Caller } from '@plinth/kernel/caller';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { requireSomeAccess, toDraft, type Entry } from '../domain/entry';
import { bodyIn, chooseCulture } from '../domain/system-text';

const { getTimeline, postTimelineEntry, getTimelineEntry, deleteTimelineEntry } = timelineEndpoints;

type Needs = Pick<Deps, 'entries' | 'cultures' | 'unusedSweeper'>;

export function mountEntries(api: Api, { entries, cultures, unusedSweeper }: Needs): void {
  /** The culture in which the system speaks to this reader; asked for only where it says something. */
  const cultureFor = async (said: readonly Entry[], caller: Caller, request: IncomingMessage) => {
    const isSystemHeard = said.some(({ message }) => message);
    return chooseCulture(isSystemHeard ? await cultures.wishes(caller, request) : []);
  };

  api.on(getTimeline, async ({ params, list, caller, request }) => {
    const { rows, totalCount } = await entries.page(audienceOf(caller), params, list);
    const culture = await cultureFor(rows, caller, request);
    const { items, nextCursor } = list.toPage(
      rows,
      null,
      (entry) => toWire(entry, bodyIn(culture, entry)),
      ({ createdAt, id }) => [createdAt.toISOString(), id],
    );
    return { items, totalCount, nextCursor: nextCursor ?? null };
  });

  api.on(postTimelineEntry, async ({ params, body, caller }) => {
    const entry = await entries.write(toDraft(params, body, caller), caller);
    const path = `/timeline/${encodeURIComponent(entry.entityType)}/${encodeURIComponent(entry.entityId)}`;
    return created(toWire(entry, entry.body), `${path}/entries/${entry.id}`);
  });

  api.on(getTimelineEntry, async ({ params: { id, ...entity }, caller, request }) => {
    const entry = await entries.get(audienceOf(caller), entity, id);
    return toWire(entry, bodyIn(await cultureFor([entry], caller, request), entry));
  });

  api.on(deleteTimelineEntry, async ({ params: { entityType, entityId, id }, caller }) => {
    requireSomeAccess(caller);
    await entries.remove({ entityType, entityId }, id, caller);
    unusedSweeper.wake();
    return noContent();
  });
}

const toWire = ({ message: _message, ...entry }: Entry, body: string): TimelineStreamEntry => ({
  ...entry,
  body,
});
