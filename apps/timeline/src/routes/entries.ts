import type { IncomingMessage } from 'node:http';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { created, noContent } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { requireTimelineAccess, toDraft, type Entry } from '../domain/entry';
import { chooseCulture, defaultCulture } from '../domain/system-text';
import { toEntryResponse } from './entry-response';

const { getTimeline, postTimelineEntry, getTimelineEntry, deleteTimelineEntry } = timelineEndpoints;

type Needs = Pick<Deps, 'entries' | 'cultures' | 'unusedBlobCleanup'>;

export function mountEntries(api: Api, { entries, cultures, unusedBlobCleanup }: Needs): void {
  /** The culture of the system logs for this reader; looked up only where there is one. */
  const cultureFor = async (rows: readonly Entry[], caller: Caller, request: IncomingMessage) =>
    rows.some(({ message }) => message)
      ? chooseCulture(await cultures.preferences(caller, request))
      : defaultCulture;

  api.on(getTimeline, async ({ params, list, caller, request }) => {
    const { rows, totalCount } = await entries.page(audienceOf(caller), params, list);
    const culture = await cultureFor(rows, caller, request);
    const { items, nextCursor } = list.toPage(
      rows,
      null,
      (entry) => toEntryResponse(entry, culture),
      ({ createdAt, id }) => [createdAt.toISOString(), id],
    );
    return { items, totalCount, nextCursor: nextCursor ?? null };
  });

  api.on(postTimelineEntry, async ({ params, body, caller }) => {
    const entry = await entries.write(toDraft(params, body, caller), caller);
    const path = `/timeline/${encodeURIComponent(entry.entityType)}/${encodeURIComponent(entry.entityId)}`;
    return created(toEntryResponse(entry, defaultCulture), `${path}/entries/${entry.id}`);
  });

  api.on(getTimelineEntry, async ({ params: { id, ...entity }, caller, request }) => {
    const entry = await entries.get(audienceOf(caller), entity, id);
    return toEntryResponse(entry, await cultureFor([entry], caller, request));
  });

  api.on(deleteTimelineEntry, async ({ params: { entityType, entityId, id }, caller }) => {
    requireTimelineAccess(caller);
    await entries.remove({ entityType, entityId }, id, caller);
    unusedBlobCleanup.wake();
    return noContent();
  });
}
