import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { databaseWithoutRows } from '@plinth/testing/database-without-rows';
import { Registry } from 'prom-client';
import { revisionQuota } from './revision-quota';

/** A quota of ten revisions and a hundred characters of a tenant that has none. */
function aQuota() {
  return revisionQuota({
    db: databaseWithoutRows,
    log: silentLog(),
    metrics: new Registry(),
    removeSpareRevisions: async () => undefined,
    config: { TEMPLATE_TENANT_REVISIONS_MAX: 10, TEMPLATE_TENANT_CHARACTERS_MAX: 100 },
  });
}

const texts = (count: number, length: number) => Array.from({ length: count }, () => 'x'.repeat(length));
const rows = (contents: string[]) => contents.map((content) => ({ values: { content } })) as never;

describe('the quota of revisions and of their characters', () => {
  it('takes no room for revisions whose characters have none', () => {
    const quota = aQuota();
    for (let count = 0; count < 20; count++) expect(() => quota.take('one', ['x'.repeat(101)])).toThrow();
    quota.take('one', texts(10, 1));
    expect(() => quota.take('one', ['x'])).toThrow('revisions');
  });

  it.each([true, false])('takes none for rows of an import either; of a dry-run: %s', async (isDryRun) => {
    const { whenKnown, tryTake } = aQuota().forImport({ jobId: 'a job', isDryRun });
    await whenKnown('one', Infinity);
    for (let count = 0; count < 20; count++) expect(tryTake('one', 1, rows(['x'.repeat(101)]))).toBe(false);
    expect(tryTake('one', 10, rows(texts(10, 1)))).toBe(true);
    // For what is no dry-run room is made first.
    if (isDryRun) expect(tryTake('one', 1, rows(['x']))).toBe(false);
    else expect(() => tryTake('one', 1, rows(['x']))).toThrow('could not be counted');
  });

  it.each([true, false])(
    'has both again for rows of an import that need none; of a dry-run: %s',
    (isDryRun) => {
      const ofRows = aQuota().forImport({ jobId: 'a job', isDryRun });
      const updated = rows(texts(10, 10));
      for (let count = 0; count < 2; count++) {
        expect(ofRows.tryTake('one', 10, updated)).toBe(true);
        ofRows.giveBack('one', 10, updated);
      }
    },
  );

  it('has both again after a transaction that failed', async () => {
    const quota = aQuota();
    const failing = undoingOnRollback(async () => {
      quota.take('one', texts(10, 10));
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');
    quota.take('one', texts(10, 10));
  });
});
