import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { databaseWithoutRows } from '@plinth/testing/database-without-rows';
import { Registry } from 'prom-client';
import { changeQuota } from './change-quota';

const LONG = 'x'.repeat(2_000);

/** A quota of ten changes and of 20,000 bytes in long values, of a tenant that has none. */
const aQuota = () =>
  changeQuota({
    db: databaseWithoutRows,
    log: silentLog(),
    metrics: new Registry(),
    config: { SETTINGS_TENANT_CHANGES_MAX: 10, SETTINGS_TENANT_LONG_VALUE_BYTES_MAX: 20_000 },
  });

const rows = (count: number, value: string) =>
  Array.from({ length: count }, (_, at) => ({ rowNumber: at + 2, values: { value } }));

describe('the quota of changes of settings and of bytes in long values', () => {
  it('takes a long value twice, for it and for its history, and nothing for a short one', async () => {
    const quota = aQuota();
    for (let count = 0; count < 5; count++) quota.take('one', LONG);
    expect(() => quota.take('one', LONG)).toThrow('bytes');
    for (let count = 0; count < 20; count++) quota.take('one', 'x'.repeat(1_024));
    quota.take('other', LONG);
  });

  it('has it again after a transaction that failed', async () => {
    const quota = aQuota();
    const failing = undoingOnRollback(async () => {
      for (let count = 0; count < 5; count++) quota.take('one', LONG);
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');
    for (let count = 0; count < 5; count++) quota.take('one', LONG);
  });

  it.each([true, false])('refuses rows of an import for both; of a dry-run: %s', async (isDryRun) => {
    const { whenKnown, tryTake } = aQuota().forImport({ jobId: 'a job', isDryRun });
    await whenKnown('one', Infinity);
    for (let count = 0; count < 20; count++) expect(tryTake('one', 6, rows(6, LONG))).toBe(false);
    for (let count = 0; count < 20; count++) expect(tryTake('one', 11, rows(5, LONG))).toBe(false);
    expect(tryTake('one', 5, rows(5, LONG))).toBe(true);
    expect(tryTake('one', 1, rows(1, LONG))).toBe(false);
    expect(tryTake('one', 5, rows(5, 'x'))).toBe(true);
  });
});
