import type { Caller } from '@plinth/kernel/caller';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import { audienceOf } from '../domain/audience';
import type { EntityName } from '../domain/entry';
import { keysOfEntity, type WakeSignal } from '../events/wake-signal';
import type { EntryStore, TimelineState } from '../store/entry-store';
import { wakeUps } from './wake-ups';

interface Parts {
  entries: Pick<EntryStore, 'state'>;
  signal: Pick<WakeSignal, 'onWake'>;
  streamReads: FairPlaces;
}

/**
 * How the stream of an entity is for this caller, at once and whenever that changes. It is read anew each time, so an
 * entry that the caller does not see leaves no trace.
 */
export async function* timelineStream(
  caller: Caller,
  entity: EntityName,
  ending: AbortSignal,
  { entries, signal, streamReads }: Parts,
): AsyncIterable<TimelineState> {
  let last: TimelineState | undefined;
  const subscribe = (listener: () => void) => signal.onWake(caller.tenantId, keysOfEntity(entity), listener);
  for await (const _ of wakeUps(caller, subscribe, ending)) {
    const state = await streamReads.run(caller, () => entries.state(audienceOf(caller), entity));
    const isSame = state.newestEntryId === last?.newestEntryId && state.totalCount === last.totalCount;
    last = state;
    if (!isSame) yield state;
  }
}
