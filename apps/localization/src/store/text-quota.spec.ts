import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { databaseWithoutRows } from '@plinth/testing/database-without-rows';
import { Registry } from 'prom-client';
import { textQuota } from './text-quota';

const LONG = 'x'.repeat(2_000);

/** A quota of ten texts and of 10,000 bytes in long ones, of a tenant that has none. */
function aQuota() {
  return textQuota({
    db: databaseWithoutRows,
    log: silentLog(),
    metrics: new Registry(),
    config: { LOCALIZATION_TENANT_OVERRIDES_MAX: 10, LOCALIZATION_TENANT_LONG_TEXT_BYTES_MAX: 10_000 },
  });
}

/** Rows of an import; those that were written have an id. */
const rows = (count: number, value: string, id: string | null = null) =>
  Array.from({ length: count }, (_, at) => ({
    rowNumber: at + 2,
    values: { resourceName: '', key: '', value },
    id,
  }));

const stored = (value: string) => ({ resource_name: '', key: '', value });

describe('the quota of texts and of bytes in long ones', () => {
  it('takes no room for texts whose bytes have none, nor the other way round', () => {
    const quota = aQuota();
    for (let count = 0; count < 20; count++) expect(() => quota.take('one', 1, 10_001)).toThrow('bytes');
    quota.take('one', 10, 0);
    for (let count = 0; count < 20; count++) expect(() => quota.take('one', 1, 2_000)).toThrow('texts');
    quota.take('one', 0, 10_000);
    expect(() => quota.take('one', 0, 2_000)).toThrow('bytes');
  });

  it.each([true, false])('takes none for rows of an import either; of a dry-run: %s', async (isDryRun) => {
    const { whenKnown, tryTake } = aQuota().forImport({ jobId: 'a job', isDryRun });
    await whenKnown('one', Infinity);
    for (let count = 0; count < 20; count++) expect(tryTake('one', 6, rows(6, LONG))).toBe(false);
    for (let count = 0; count < 20; count++) expect(tryTake('one', 11, rows(11, 'x'))).toBe(false);
    expect(tryTake('one', 5, rows(5, LONG))).toBe(true);
    expect(tryTake('one', 1, rows(1, LONG))).toBe(false);
    expect(tryTake('one', 5, rows(5, 'x'.repeat(1_024)))).toBe(true);
  });

  it.each([true, false])(
    'has both again for rows of an import that were not written; of a dry-run: %s',
    (isDryRun) => {
      const ofRows = aQuota().forImport({ jobId: 'a job', isDryRun });
      for (let count = 0; count < 3; count++) {
        const unwritten = rows(5, LONG);
        expect(ofRows.tryTake('one', 5, unwritten)).toBe(true);
        ofRows.giveBack('one', 5, unwritten);
      }
    },
  );

  it.each([true, false])(
    'keeps of an updated row of an import what its text grew by; of a dry-run: %s',
    async (isDryRun) => {
      const quota = aQuota();
      const ofRows = quota.forImport({ jobId: 'a job', isDryRun });
      await ofRows.whenKnown('one', Infinity);
      const updated = rows(4, LONG, 'an id');
      for (const row of updated) quota.noteStored(row, 1_900);
      for (let count = 0; count < 4; count++) {
        expect(ofRows.tryTake('one', 4, updated)).toBe(true);
        ofRows.giveBack('one', 4, updated);
      }
      expect(ofRows.tryTake('one', 5, rows(5, LONG))).toBe(false);
      expect(ofRows.tryTake('one', 4, rows(4, LONG))).toBe(true);
    },
  );

  it('gives no more back for rows with an id than they took, whether or not they were written', async () => {
    const quota = aQuota();
    const ofRows = quota.forImport({ jobId: 'a job', isDryRun: false });
    await ofRows.whenKnown('one', Infinity);
    quota.take('one', 0, 5_000);
    const shorter = rows(2, 'x'.repeat(1_100), 'an id');
    for (const row of shorter) quota.noteStored(row, 2_500);
    expect(ofRows.tryTake('one', 2, shorter)).toBe(true);
    ofRows.giveBack('one', 2, shorter);
    expect(() => quota.take('one', 0, 5_001)).toThrow('bytes');
  });

  it('takes the room of what an undo makes long again, and refuses it to nobody', () => {
    const quota = aQuota();
    const restored = Array(6).fill({ undone: stored('x'), row: stored(LONG) });
    quota.recordRestored('one', restored);
    expect(() => quota.take('one', 0, 1)).toThrow('bytes');
  });

  it('has both again after a transaction that failed', async () => {
    const quota = aQuota();
    const failing = undoingOnRollback(async () => {
      quota.take('one', 10, 10_000);
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');
    quota.take('one', 10, 10_000);
  });
});
