import { BODY_LENGTH_MAX, TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { bytesOfLongTexts, longTextBytes } from '@plinth/http/long-texts';
import { RowQuota } from '@plinth/http/row-quota';
import type { TimelineConfig } from '../config';

/** How many entries the people of a tenant may have, and how many bytes the long ones among them. */
export interface EntryQuota {
  /** Takes room for an entry that is added; the transaction that adds it gives it back where it fails. @throws Problem `quota-exceeded` */
  take(tenantId: string, body: string): void;
}

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  config: Pick<TimelineConfig, 'TIMELINE_TENANT_ENTRIES_MAX' | 'TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX'>;
};

// What the system notes is never refused, and takes no room from people.
const OF_PEOPLE = `entry_type <> ${TimelineEntryType.SystemLog}`;

export function entryQuota({ config, ...deps }: Needs): EntryQuota {
  const entries = new RowQuota({
    ...deps,
    table: 'entry',
    where: OF_PEOPLE,
    quota: 'timeline-entries',
    what: 'timeline entries',
    limit: config.TIMELINE_TENANT_ENTRIES_MAX,
  });
  const long = bytesOfLongTexts('body');
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
    take(tenantId, body) {
      const longBytes = longTextBytes(body);
      entries.take(tenantId);
      if (longBytes > 0) bytes.take(tenantId, longBytes);
    },
  };
}
