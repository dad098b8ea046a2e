import type { IncomingMessage } from 'node:http';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { created, events, noContent, type ServerSentEvent } from '@plinth/http/response';
import { readPage } from '@plinth/http/read-page';
import type { Caller } from '@plinth/kernel/caller';
import { timelineStream } from '../app/timeline-stream';
import type { Deps } from '../compose';
import { audienceOf } from '../domain/audience';
import { requireTimelineAccess, toDraft, type Entry } from '../domain/entry';
import { chooseCulture, defaultCulture } from '../domain/system-text';
import { entityKey } from '../events/wake-signal';
import { toEntryResponse } from './entry-response';

const { getTimeline, watchTimeline, postTimelineEntry, getTimelineEntry, deleteTimelineEntry } =
  timelineEndpoints;

type Needs = Pick<
  Deps,
  'entries' | 'cultures' | 'unusedBlobCleanup' | 'timelineSignal' | 'streamReads' | 'pageReads' | 'health'
>;

export function mountEntries(api: Api, deps: Needs): void {
  const { entries, cultures, unusedBlobCleanup, timelineSignal: signal, health } = deps;
  const { streamReads, pageReads } = deps;
  /** The culture of the system logs for this reader; looked up only where there is one. */
  const cultureFor = async (rows: readonly Entry[], caller: Caller, request: IncomingMessage) =>
    rows.some(({ message }) => message)
      ? chooseCulture(await cultures.preferences(caller, request))
      : defaultCulture;

  api.on(getTimeline, async ({ params, list, caller, request, signal: closed }) => {
    const read = () => entries.page(audienceOf(caller), params, list);
    const { rows, totalCount } = await readPage(pageReads, caller, list, read, closed);
    const culture = await cultureFor(rows, caller, request);
    const { items, nextCursor } = list.toPage(
      rows,
      null,
      (entry) => toEntryResponse(entry, culture),
      ({ createdAt, id }) => [createdAt.toISOString(), id],
    );
    return { items, totalCount, nextCursor: nextCursor ?? null };
  });

  api.on(watchTimeline, ({ params, caller, signal: closed }) => {
    const ending = AbortSignal.any([closed, health.draining]);
    const stream = timelineStream(caller, params, ending, { entries, signal, streamReads });
    return events(
      (async function* (): AsyncIterable<ServerSentEvent> {
        for await (const state of stream) yield { event: 'changed', data: state };
      })(),
    );
  });

  api.on(postTimelineEntry, async ({ params, body, caller }) => {
    const entry = await entries.write(toDraft(params, body, caller), caller);
    signal.wake(caller.tenantId, [entityKey(params)]);
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
    signal.wake(caller.tenantId, [entityKey({ entityType, entityId })]);
    unusedBlobCleanup.wake();
    return noContent();
  });
}
