import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { databaseWithoutRows } from '@plinth/testing/database-without-rows';
import { Registry } from 'prom-client';
import { entryQuota } from './entry-quota';

/** A quota of ten entries, and of 10,000 bytes in long ones, of a tenant that has none. */
function aQuota() {
  return entryQuota({
    db: databaseWithoutRows,
    log: silentLog(),
    metrics: new Registry(),
    config: { TIMELINE_TENANT_ENTRIES_MAX: 10, TIMELINE_TENANT_LONG_ENTRY_BYTES_MAX: 10_000 },
  });
}

const written = (body: string) => ({ entityType: '', entityId: '', body });

describe('the quota of entries and of bytes in long ones', () => {
  it('counts bytes and not characters, and none of entries of up to 1,024', () => {
    const quota = aQuota();
    for (let count = 0; count < 4; count++) quota.take('one', written('x'.repeat(1_024)));
    quota.take('one', written('é'.repeat(2_049)));
    quota.take('one', written('é'.repeat(2_049)));
    expect(() => quota.take('one', written('é'.repeat(2_049)))).toThrow(
      '8196 bytes in long timeline entries',
    );
    quota.take('one', written('é'.repeat(512)));
  });

  it('has room for as many entries after a transaction whose entry has too many bytes', async () => {
    const quota = aQuota();
    for (let count = 0; count < 20; count++) {
      const refused = undoingOnRollback(async () => quota.take('one', written('x'.repeat(10_001))));
      await expect(refused).rejects.toThrow('bytes in long timeline entries');
    }
    for (let count = 0; count < 10; count++) quota.take('one', written('x'));
    expect(() => quota.take('one', written('x'))).toThrow('10 timeline entries');
  });
});
