import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { databaseWithoutRows } from '@plinth/testing/database-without-rows';
import { Registry } from 'prom-client';
import { changeQuota } from './change-quota';

const LONG = 'x'.repeat(2_000);

/** A quota of ten changes, eight values and 20,000 bytes in long ones, of a tenant that has none. */
const aQuota = () =>
  changeQuota({
    db: databaseWithoutRows,
    log: silentLog(),
    metrics: new Registry(),
    config: {
      SETTINGS_TENANT_CHANGES_MAX: 10,
      SETTINGS_TENANT_VALUES_MAX: 8,
      SETTINGS_TENANT_LONG_VALUE_BYTES_MAX: 20_000,
    },
  });

const rows = (count: number, value: string) =>
  Array.from({ length: count }, (_, at) => ({ rowNumber: at + 2, values: { value } }));

describe('the quota of changes of settings and of bytes in long values', () => {
  it('takes what a long value is longer than the former one, and nothing for a short one', async () => {
    const quota = aQuota();
    for (let count = 0; count < 10; count++) quota.take('one', LONG, null);
    expect(() => quota.take('one', LONG, 'x')).toThrow('bytes');
    quota.take('one', LONG, LONG);
    expect(() => quota.take('one', `${LONG}x`, LONG)).toThrow('bytes');
    for (let count = 0; count < 20; count++) quota.take('one', 'x'.repeat(1_024), null);
    quota.take('other', LONG, null);
  });

  it('has it again after a transaction that failed', async () => {
    const quota = aQuota();
    const fill = () => {
      for (let count = 0; count < 10; count++) quota.take('one', LONG, null);
    };
    const failing = undoingOnRollback(async () => {
      fill();
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');
    fill();
  });

  it('gives back no more than it took, also where a value became another one, as a secret that is sealed', async () => {
    const quota = aQuota();
    const ofRows = quota.forImport({ jobId: 'a job', isDryRun: false });
    await ofRows.whenKnown('one', Infinity);
    for (let count = 0; count < 10; count++) quota.take('one', LONG, null);
    for (let count = 0; count < 10; count++) {
      const passedOver = rows(1, 'x'.repeat(760));
      expect(ofRows.tryTake('one', 1, passedOver)).toBe(true);
      passedOver[0]!.values.value = 'x'.repeat(1_064);
      ofRows.giveBack('one', 1, passedOver);
    }
    expect(() => quota.take('one', LONG, null)).toThrow('bytes');
  });

  it.each([true, false])('refuses rows of an import for each of them; of a dry-run: %s', async (isDryRun) => {
    const { whenKnown, tryTake } = aQuota().forImport({ jobId: 'a job', isDryRun });
    await whenKnown('one', Infinity);
    for (let count = 0; count < 20; count++) {
      expect(tryTake('one', 9, rows(9, 'x'))).toBe(false);
      expect(tryTake('one', 8, rows(8, `${LONG}${LONG}`))).toBe(false);
    }
    expect(tryTake('one', 8, rows(8, LONG))).toBe(true);
    expect(tryTake('one', 1, rows(1, 'x'))).toBe(false);
  });

  it('counts what is updated among the changes, and not among the values', async () => {
    const { whenKnown, tryTake, giveBack } = aQuota().forImport({ jobId: 'a job', isDryRun: true });
    await whenKnown('one', Infinity);
    const updated = rows(5, 'x').map((row) => ({ ...row, id: 'an id' }));
    expect(tryTake('one', 5, updated)).toBe(true);
    giveBack('one', 5, updated);
    expect(tryTake('one', 6, rows(6, 'x'))).toBe(false);
    expect(tryTake('one', 5, rows(5, 'x'))).toBe(true);
    expect(tryTake('one', 1, rows(1, 'x'))).toBe(false);
  });
});
