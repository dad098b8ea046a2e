import { Duplex, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RowQuota } from '@plinth/http/row-quota';
import { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller } from '@plinth/testing/http';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { Registry } from 'prom-client';
import { plainFormat } from '../../test/plain-format';
import type { FileRows } from '../formats/read-csv';
import { wholeFile } from '../formats/record-index';
import type { CountedBatch } from '../store/import-store';
import { createActivities } from '../temporal/activities';
import { failImport } from './end-import';
import type { ImportDependencies, ImportRun } from './find-import-run';
import { importInSingleTransaction } from './import-in-single-transaction';
import { importRange, sendRange } from './import-range';
import { keepLayout } from './keep-layout';
import { placesOfLargeBatches } from './uncounted-rows';

const ROWS = 9_000;
const BATCHES = 3;
const text = `code,title\n${Array.from({ length: ROWS }, (_, at) => `K${at},a\n`).join('')}`;
const failure = (rowNumber: number) => ({ rowNumber, kind: 'Validation', details: [] });

/** An import of a tenant with room for the failed rows of so many batches, by an owner that answers each batch with this. */
function anImport(
  resultOf: (rowCount: number, number: number, call: Duplex) => object,
  { room = Infinity } = {},
) {
  const counted: CountedBatch[] = [];
  let kept = 0;
  const openCalls = new Set<Duplex>();
  const begin = () => {
    const call = new Duplex({
      objectMode: true,
      read: () => undefined,
      write: (message: { batch?: { number: number; rows: Buffer }; end?: object }, _encoding, done) => {
        if (message.batch) {
          const rowCount = (JSON.parse(message.batch.rows.toString()) as unknown[]).length;
          const result = resultOf(rowCount, message.batch.number, call);
          call.push({ result: { keys: Buffer.alloc(0), ...result } });
        }
        if (message.end) call.push({ ended: {} });
        done();
      },
    });
    openCalls.add(call);
    return Object.assign(call, { cancel: () => openCalls.delete(call) });
  };
  const owner = { client: { Import: begin }, identity: () => undefined };
  const caller = aCaller();
  const job = {
    tenantId: caller.tenantId,
    id: 'job',
    caller,
    status: 'Executing',
    cancelRequestedAt: null,
    lastBatch: 0,
    format: plainFormat,
    mappings: ['code', 'title'].map((name) => ({ sourceColumn: name, targetProperty: name })),
    options: {},
  };
  const range = { ...wholeFile, number: 0, lastBatch: 0 };
  const definition = { name: 'Shop.Articles', owner: 'shop', fields: [] };
  const dependencies = {
    imports: {
      get: async () => job,
      getState: async () => ({ status: 'Failed' }),
      keepLayout: () => Promise.reject(new Error('away')),
    },
    ranges: {
      get: async () => range,
      countBatch: async (_tenantId: string, _jobId: string, _range: number, batch: CountedBatch) => {
        counted.push(batch);
        return { isCancelled: false, failedBytes: Math.min(1, batch.failedParts.length) };
      },
    },
    owners: { clientOf: () => owner, find: async () => definition },
    blobs: { get: async () => Readable.from([Buffer.from(text)]) },
    kept: {
      hasRoomNow: async (_tenantId: string, bytes: number) => kept + bytes <= room,
      recordWritten: (_tenantId: string, bytes: number) => void (kept += bytes),
    },
    turns: new EventLoopTurns(),
    largeBatches: placesOfLargeBatches(),
  } as unknown as ImportDependencies;
  return { dependencies, run: { job, definition } as unknown as ImportRun, range, counted, openCalls };
}

const { signal } = new AbortController();
const oneFailed = (rowCount: number) => ({
  inserted: rowCount - 1,
  updated: 0,
  skipped: 0,
  failures: Buffer.from(JSON.stringify([failure(2)])),
});
const noneFailed = (rowCount: number) => ({
  ...oneFailed(rowCount),
  inserted: rowCount,
  failures: Buffer.from('[]'),
});

describe('the batches of a range', () => {
  it('are counted as far as they are committed, and kept of their failed rows is what there is room for', async () => {
    const { dependencies, run, range, counted } = anImport(oneFailed, { room: 1 });

    await sendRange(dependencies, { run, range, keysFirst: false, signal }, ({ number }) => number < BATCHES);

    expect(counted.map(({ number, counts }) => [number, counts.failedRows])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(counted.map(({ failedParts }) => failedParts.length)).toEqual([1, 0, 0]);
  });

  it('end an import at the first for whose failed rows there is no room', async () => {
    const { dependencies, run, counted } = anImport(oneFailed, { room: 1 });
    const range = { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false };

    await expect(importRange(dependencies, range, signal)).rejects.toThrow('More rows failed');
    expect(counted[1]!.failedParts).toEqual([]);
  });

  it('are not sent where there is no room before the first, and are where others of the import were', async () => {
    const resultOf = jest.fn(noneFailed);
    const { dependencies, run } = anImport(resultOf, { room: 0 });
    const range = { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false };

    await expect(importRange(dependencies, range, signal)).rejects.toThrow('no room for failed rows');
    expect(resultOf).not.toHaveBeenCalled();

    const imports = { ...dependencies.imports, get: async () => ({ ...run.job, lastBatch: 1 }) };
    expect(await importRange({ ...dependencies, imports }, range, signal)).toBe(BATCHES);
  });

  it('are sent, and their failed rows kept, where there is room again since it was counted', async () => {
    const { dependencies, run, counted } = anImport(oneFailed);
    const { tenantId } = run.job;
    const stored = { bytes: 100, at: 0 };
    const tx = { $queryRawUnsafe: async () => [{ rows: stored.bytes }] };
    const kept = new RowQuota({
      db: { inTenant: async (_tenantId, work) => work(tx as never) },
      log: silentLog(),
      metrics: new Registry(),
      table: 'kept',
      quota: 'exchange-kept-bytes',
      what: 'bytes',
      limit: 100,
      now: () => stored.at,
    });
    expect(await kept.hasRoomNow(tenantId, 101)).toBe(false);
    Object.assign(stored, { bytes: 0, at: 3_600_000 });
    const range = { tenantId, jobId: 'job', range: 0, keysFirst: false };

    expect(await importRange({ ...dependencies, kept }, range, signal)).toBe(BATCHES);
    expect(counted.map(({ failedParts }) => failedParts.length)).toEqual([1, 1, 1]);
  });

  it('are told by their number, and never by one that a version before takes for false', async () => {
    const { dependencies, run, range: stored } = anImport(oneFailed);
    const range = { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false };

    expect(await importRange(dependencies, range, signal)).toBe(BATCHES);
    const { dependencies: blank } = anImport(oneFailed);
    const blobs = { ...blank.blobs, get: async () => Readable.from([Buffer.from('code,title\n')]) };
    expect(stored.lastBatch).toBe(0);
    expect(await importRange({ ...blank, blobs }, range, signal)).toBe(true);
  });

  it('that are counted are progress, by which the ends of processes before them are forgiven', async () => {
    const { dependencies, run } = anImport(oneFailed, { room: 1 });
    const activities = createActivities({ ...dependencies, config: {}, log: silentLog() } as never);
    const heartbeat = jest.fn();
    const info = { attempt: 10, heartbeatDetails: { forOthers: 1, ended: 2, crashesBefore: 3 } };
    const context = { info: { ...info, taskQueue: 'jobs' }, heartbeat, cancellationSignal: signal };
    const range = { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false };

    const importing = asyncLocalStorage.run(context as unknown as Context, () =>
      activities.importRange(range),
    );
    await expect(importing).rejects.toThrow('failed');
    const left = { forOthers: 1, ended: 3, crashesBefore: 7 };
    expect(heartbeat).toHaveBeenLastCalledWith(expect.objectContaining(left));
  });

  it('whose keys are stored are progress too', async () => {
    const { dependencies } = anImport(oneFailed);
    const insert = jest.fn().mockResolvedValueOnce(undefined).mockRejectedValue(new Error('a bug'));
    const keys = { lastBatch: async () => 0, insert };
    const activities = createActivities({ ...dependencies, keys, config: {}, log: silentLog() } as never);
    const heartbeat = jest.fn();
    const info = { attempt: 6, heartbeatDetails: { ended: 0 }, taskQueue: 'jobs' };
    const context = { info, heartbeat, cancellationSignal: signal };
    const range = { tenantId: aCaller().tenantId, jobId: 'job', range: 0, keysFirst: true };

    const reading = asyncLocalStorage.run(context as unknown as Context, () => activities.readKeys(range));
    await expect(reading).rejects.toThrow('unexpected');
    expect(heartbeat).toHaveBeenLastCalledWith(expect.objectContaining({ crashesBefore: 5 }));
  });

  it.each([
    ['fails where its owner has forgotten it', {}, undefined],
    ['ends where it was cancelled', { cancelRequestedAt: new Date() }, false],
    ['ends where it has ended', { status: 'Failed' }, false],
  ])('are refused by the owner: the import %s', async (_how, change, result) => {
    const { dependencies, run } = anImport(() => ({ sealed: true, failures: Buffer.from('[]') }));
    const get = jest
      .fn()
      .mockResolvedValueOnce(run.job)
      .mockResolvedValue({ ...run.job, ...change });
    const importing = importRange(
      { ...dependencies, imports: { ...dependencies.imports, get } },
      { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false },
      signal,
    );

    if (result === undefined) await expect(importing).rejects.toThrow('has forgotten it');
    else expect(await importing).toBe(result);
  });

  it('keep their failed rows in the order of the file, those that were not sent and those that come in parts', async () => {
    const unsent = [3, 6, 9];
    const file = Array.from({ length: 9 }, (_, at) => `K${at + 2},a${unsent.includes(at + 2) ? ',b' : ''}\n`);
    const { dependencies, run, range, counted } = anImport((_rowCount, _number, call) => {
      const part = { keys: Buffer.alloc(0), failures: Buffer.from(JSON.stringify([2, 5].map(failure))) };
      call.push({ result: { ...part, moreFollows: true } });
      return { inserted: 3, updated: 0, skipped: 0, failures: Buffer.from(JSON.stringify([failure(7)])) };
    });
    const blobs = { get: async () => Readable.from([Buffer.from(`code,title\n${file.join('')}`)]) };

    await sendRange(
      { ...dependencies, blobs: blobs as unknown as ImportDependencies['blobs'] },
      { run, range, keysFirst: false, signal },
      () => true,
    );

    const [batch] = counted;
    const lines = batch!.failedParts.flatMap(({ details }) => details.toString().split('\n'));
    expect(lines.map((line) => (JSON.parse(line) as [number])[0])).toEqual([2, 3, 5, 6, 7, 9]);
    const cells = batch!.failedParts.flatMap((part) => part.cells.toString().split('\n'));
    expect(cells[1]).toBe('["K3","a","b"]');
    expect(batch!.counts).toMatchObject({ totalRows: 9, insertedRows: 3, failedRows: 6 });
  });

  it('have as many rows as have a result, also of a version that took blank rows for some', async () => {
    const failures = Buffer.from(JSON.stringify(Array.from({ length: 4_001 }, (_, at) => failure(at + 2))));
    const { dependencies, run, range, counted } = anImport(() => ({
      inserted: 7,
      updated: 2,
      skipped: 1,
      failures,
    }));

    await sendRange(dependencies, { run, range, keysFirst: false, signal }, () => false);

    expect(counted[0]!.counts).toEqual({
      totalRows: 4_011,
      insertedRows: 7,
      updatedRows: 2,
      skippedRows: 1,
      failedRows: 4_001,
    });
  });

  it('are not taken for imported where a result is of fewer rows, as another version divided the file', async () => {
    const ofFewer = (rowCount: number) => ({ ...oneFailed(rowCount), inserted: rowCount - 3 });
    const { dependencies, run, range, counted } = anImport(ofFewer);

    const sending = sendRange(dependencies, { run, range, keysFirst: false, signal }, () => true);

    await expect(sending).rejects.toThrow(
      'rows 2 to 4001, 2 were not imported. Undo this import and upload the file again.',
    );
    expect(counted.map(({ counts }) => counts.totalRows)).toEqual([3_998, 3_998, 998]);
  });

  it('of which another version imported fewer rows are the last that are imported, and are counted', async () => {
    const ofFewer = (rowCount: number) => ({ ...oneFailed(rowCount), inserted: rowCount - 3 });
    const { dependencies, run, counted } = anImport(ofFewer);
    const range = { tenantId: run.job.tenantId, jobId: 'job', range: 0, keysFirst: false };

    await expect(importRange(dependencies, range, signal)).rejects.toThrow('2 were not imported');
    expect(counted.length).toBeGreaterThan(0);
  });

  it('of a single transaction of which another version committed fewer rows are counted as it fails', async () => {
    const ofFewer = (rowCount: number) => ({
      ...oneFailed(rowCount),
      inserted: rowCount - 2,
      failures: '[]',
    });
    const { dependencies, run } = anImport(ofFewer);
    const finish = jest.fn();
    const deletes = { delete: async () => undefined };
    const committed = {
      ...dependencies,
      imports: {
        ...dependencies.imports,
        get: async () => ({ ...run.job, options: { onError: 'abort' } }),
        finish,
      },
      owners: { ...dependencies.owners, seal: async () => BATCHES },
      keys: deletes,
      blobs: { ...dependencies.blobs, ...deletes },
      clock: { now: () => new Date() },
    } as unknown as ImportDependencies;
    const job = { tenantId: run.job.tenantId, jobId: 'job', reason: 'rows are missing' };

    await failImport(committed, job, { signal, isLast: true });

    const counts = expect.objectContaining({
      totalRows: ROWS - 2 * BATCHES,
      insertedRows: ROWS - 2 * BATCHES,
    });
    const end = expect.objectContaining({ status: 'Failed', counts, errorMessage: 'rows are missing' });
    expect(finish).toHaveBeenCalledWith(job.tenantId, 'job', end);
  });

  it.each([
    ['continue', 0, true, 'Failed', 'processes ended'],
    ['continue', BATCHES, true, 'Failed', 'processes ended More rows may be imported than are counted.'],
    ['abort', 0, true, 'Failed', 'processes ended'],
    ['continue', BATCHES, false, 'Failed', 'processes ended More rows may be imported than are counted.'],
    ['abort', BATCHES, true, 'Completed', 'All rows were imported, but could not be counted.'],
  ])(
    'of a file that cannot be read are sealed, and what is committed is told: %s, %i committed, its processes ended each time: %s',
    async (onError, lastBatch, isGivenUp, status, errorMessage) => {
      const { dependencies, run, range, counted } = anImport(oneFailed);
      const finish = jest.fn();
      const seal = jest.fn(async () => lastBatch);
      const get = jest.fn(() => Promise.reject(new Error('The file is gone.')));
      const deletes = { delete: async () => undefined };
      const crashing = {
        ...dependencies,
        imports: { ...dependencies.imports, get: async () => ({ ...run.job, options: { onError } }), finish },
        ranges: { ...dependencies.ranges, list: async () => (onError === 'abort' ? [] : [range]) },
        owners: { ...dependencies.owners, seal },
        keys: deletes,
        blobs: { get, ...deletes },
        clock: { now: () => new Date() },
      } as unknown as ImportDependencies;
      const job = { tenantId: run.job.tenantId, jobId: 'job', reason: 'processes ended' };

      await failImport(crashing, job, { signal, isLast: !isGivenUp, isGivenUp });

      expect(seal).toHaveBeenCalledTimes(1);
      expect(get).toHaveBeenCalledTimes(isGivenUp ? 0 : 1);
      expect(counted).toEqual([]);
      const end = expect.objectContaining({ status, errorMessage });
      expect(finish).toHaveBeenCalledWith(job.tenantId, 'job', end);
    },
  );

  it.each(['continue', 'abort'])(
    'with very many failed rows wait until the process has room for them: %s',
    async (onError) => {
      const message = 'The rule that this row breaks is told at length. '.repeat(30);
      const details = [{ column: 'title', value: 'a', code: 'Service:Validation:Rule', message }];
      const failures = Array.from({ length: 4_000 }, (_, at) => ({ ...failure(at + 2), details }));
      const { dependencies, run, range, counted, openCalls } = anImport((rowCount, number) => ({
        inserted: number === 1 ? 0 : rowCount,
        updated: 0,
        skipped: 0,
        failures: Buffer.from(number === 1 ? JSON.stringify(failures) : '[]'),
      }));
      const { largeBatches } = dependencies;
      const others = ['globex', 'initech'].map((tenantId) => ({ tenantId, userId: '' }));
      for (const other of others) largeBatches.tryEnter(other);
      const finish = jest.fn(
        async (_tenantId: string, _jobId: string, { failedParts }: Partial<CountedBatch>) => {
          counted.push({ failedParts } as CountedBatch);
        },
      );
      const single = {
        ...dependencies,
        imports: { ...dependencies.imports, get: async () => ({ ...run.job, options: { onError } }), finish },
        owners: { ...dependencies.owners, seal: async () => 0 },
        keys: { delete: async () => undefined },
        blobs: { ...dependencies.blobs, delete: async () => undefined },
        clock: { now: () => new Date() },
      } as unknown as ImportDependencies;

      const importing =
        onError === 'abort'
          ? importInSingleTransaction(single, run.job.tenantId, 'job', signal)
          : sendRange(dependencies, { run, range, keysFirst: false, signal }, () => false);
      while (largeBatches.waitingCount + counted.length === 0) await nextTurn();
      expect(counted.length).toBe(0);
      // An owner that is to commit all or none has rows that others wait for.
      expect(openCalls.size).toBe(onError === 'abort' ? 0 : 1);
      largeBatches.leave(others[0]!);
      await importing;
      largeBatches.leave(others[1]!);

      const rows = counted.flatMap(({ failedParts }) => failedParts.map(({ rowCount }) => rowCount));
      expect(rows.reduce((sum, count) => sum + count, 0)).toBe(failures.length);
      expect(largeBatches.runningCount).toBe(0);
    },
  );

  it('of a single transaction that fail when room ran out meanwhile are counted, and not kept', async () => {
    const { dependencies, run } = anImport(oneFailed);
    const finish = jest.fn();
    const kept = {
      ...dependencies.kept,
      hasRoomNow: jest.fn().mockResolvedValueOnce(true).mockResolvedValue(false),
    };
    const deletes = { delete: async () => undefined };
    const single = {
      ...dependencies,
      kept,
      imports: { ...dependencies.imports, finish },
      owners: { ...dependencies.owners, seal: async () => 0 },
      keys: deletes,
      blobs: { ...dependencies.blobs, ...deletes },
      clock: { now: () => new Date() },
    } as unknown as ImportDependencies;

    await importInSingleTransaction(single, run.job.tenantId, 'job', signal);

    const counts = expect.objectContaining({ totalRows: ROWS, failedRows: 1 });
    const errorMessage = expect.stringContaining('More rows failed');
    const end = expect.objectContaining({ status: 'Failed', counts, failedParts: [], errorMessage });
    expect(finish).toHaveBeenCalledWith(run.job.tenantId, 'job', end);
  });

  it.each([
    ['is removed with its end', 'Failed', 1],
    ['stays where a restored database does not know that it is executed', 'Mapped', 0],
  ])('of a single transaction have a file, which %s', async (_when, status, removals) => {
    const { dependencies, run } = anImport(oneFailed);
    const remove = jest.fn(async () => undefined);

    await importInSingleTransaction(
      {
        ...dependencies,
        imports: {
          ...dependencies.imports,
          getState: async () => ({ status }),
          finish: async () => undefined,
        },
        owners: { ...dependencies.owners, seal: async () => 0 },
        keys: { delete: remove },
        blobs: { ...dependencies.blobs, delete: remove },
        clock: { now: () => new Date() },
      } as unknown as ImportDependencies,
      run.job.tenantId,
      'job',
      signal,
    );

    // Of its keys and of the file.
    expect(remove).toHaveBeenCalledTimes(2 * removals);
  });

  it('are not read on where the layout of their workbook cannot be kept', async () => {
    const { dependencies, run } = anImport(oneFailed);
    const file = { headers: [], headerRow: 1, headerRows: 1, lastRow: 0, close: jest.fn() };
    const workbook = { ...run, job: { ...run.job, format: { kind: 'xlsx' } } } as ImportRun;
    const keeping = keepLayout(dependencies, workbook, file as unknown as FileRows);

    await expect(keeping).rejects.toThrow('away');
    expect(file.close).toHaveBeenCalled();
  });
});
