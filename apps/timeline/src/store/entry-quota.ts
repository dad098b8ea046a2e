import { BODY_LENGTH_MAX, TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { bytesOfColumns, bytesOfLongRows, bytesOfTexts, longBytes } from '@plinth/http/long-texts';
import { RowQuota } from '@plinth/http/row-quota';
import type { TimelineConfig } from '../config';
import type { Draft } from '../domain/entry';

/** How many entries the people of a tenant may have, and how many bytes the long ones among them. */
export interface EntryQuota {
  /** Takes room for an entry that is added; the transaction that adds it gives it back where it fails. @throws Problem `quota-exceeded` */
  take(tenantId: string, draft: WrittenTexts): void;
}

type WrittenTexts = Pick<Draft, 'entityType' | 'entityId' | 'body'>;

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  config: Pick<TimelineConfig, 'TIMELINE_TENANT_ENTRIES_MAX' | 'TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX'>;
};

// What the system notes is never refused, and takes no room from people.
const OF_PEOPLE = `entry_type <> ${TimelineEntryType.SystemLog}`;

/** In the row of an entry and two of its indexes, and for a new entity in that of its counter and its key. */
const COPIES_OF_NAMES = 5;
const BYTES = `${COPIES_OF_NAMES} * (${bytesOfColumns('entity_type', 'entity_id')}) + ${bytesOfColumns('body')}`;
const bytesOf = ({ entityType, entityId, body }: WrittenTexts): number =>
  COPIES_OF_NAMES * bytesOfTexts(entityType, entityId) + bytesOfTexts(body);

export function entryQuota({ config, ...deps }: Needs): EntryQuota {
  const entries = new RowQuota({
    ...deps,
    table: 'entry',
    where: OF_PEOPLE,
    quota: 'timeline-entries',
    what: 'timeline entries',
    limit: config.TIMELINE_TENANT_ENTRIES_MAX,
  });
  const long = bytesOfLongRows(BYTES);
  const bytes = new RowQuota({
    ...deps,
    table: 'entry',
    where: `${OF_PEOPLE} AND ${long.where}`,
    measure: long.measure,
    quota: 'timeline-long-entry-bytes',
    what: 'bytes in long timeline entries',
    limit: config.TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX,
    // The longest body that a request brings.
    uncountedMin: 4 * BODY_LENGTH_MAX,
  });
  return {
    take(tenantId, draft) {
      const room = longBytes(bytesOf(draft));
      entries.take(tenantId);
      if (room > 0) bytes.take(tenantId, room);
    },
  };
}
