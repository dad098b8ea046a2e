import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { failImport } from '../src/app/end-import';
import { importInSingleTransaction } from '../src/app/import-in-single-transaction';
import { importRange } from '../src/app/import-range';
import { headerHash } from '../src/domain/mapping';
import { wholeFile } from '../src/formats/record-index';
import { importStore, JobChanged } from '../src/store/import-store';
import {
  importFile,
  mappedImport,
  reportOf,
  startDataExchange,
  upload,
  type DataExchange,
} from './start-data-exchange';

const manyRows = `code,title\n${Array.from({ length: 60_000 }, (_, row) => `K${row},T${row}\n`).join('')}`;

describe('the states of an import', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    exchange = await startDataExchange();
  });
  afterAll(() => exchange.close());

  const steps = [
    ['POST', 'preview'],
    ['PUT', 'draft-mappings'],
    ['PUT', 'mappings'],
    ['POST', 'dry-run'],
    ['POST', 'execute'],
    ['GET', 'report'],
    ['GET', 'correction-file'],
    ['DELETE', ''],
  ] as const;
  const mappings = {
    mappings: [
      { sourceColumn: 'code', targetProperty: 'code', confidence: 'Manual' },
      { sourceColumn: 'title', targetProperty: 'title' },
    ],
  };
  const attempt = async (tenant: ReturnType<typeof aCaller>, jobId: string, method: string, step: string) => {
    const path = `/imports/${jobId}${step ? `/${step}` : ''}`;
    const options = step.endsWith('mappings') ? { body: mappings } : {};
    return (await exchange.as(tenant).send(method, path, options)).status;
  };

  it('allow each step in its states and refuse it with 409 in all others', async () => {
    const refusedIn: Record<string, string[]> = {
      Created: ['draft-mappings', 'mappings', 'dry-run', 'execute', 'report', 'correction-file'],
      Previewed: ['dry-run', 'execute', 'report', 'correction-file'],
      Mapped: ['report', 'correction-file'],
      Completed: ['preview', 'draft-mappings', 'mappings', 'dry-run', 'execute', ''],
      Cancelled: [
        'preview',
        'draft-mappings',
        'mappings',
        'dry-run',
        'execute',
        'report',
        'correction-file',
        '',
      ],
    };
    const caller = aCaller();
    const jobs: Record<string, string> = {};
    jobs['Created'] = (await upload(exchange, caller, 'code,title\nA,a\n')).body.id;
    jobs['Previewed'] = (await upload(exchange, caller, 'code,title\nA,a\n')).body.id;
    await attempt(caller, jobs['Previewed']!, 'POST', 'preview');
    jobs['Mapped'] = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    jobs['Completed'] = (await importFile(exchange, caller, 'code,title\nA,a\n')).jobId;
    jobs['Cancelled'] = (await upload(exchange, caller, 'code,title\nA,a\n')).body.id;
    await attempt(caller, jobs['Cancelled']!, 'DELETE', '');

    for (const [state, refused] of Object.entries(refusedIn)) {
      const { body } = await exchange.as(caller).get(`/imports/${jobs[state]}`);
      expect(body.status).toBe(state);
      for (const [method, step] of steps.filter(([, name]) => refused.includes(name))) {
        expect([state, step, await attempt(caller, jobs[state]!, method, step)]).toEqual([state, step, 409]);
      }
    }
    expect(await attempt(caller, jobs['Mapped']!, 'POST', 'preview')).toBe(200);
    expect((await exchange.as(caller).get(`/imports/${jobs['Mapped']}`)).body.status).toBe('Mapped');
  });

  it('start one execution for concurrent requests', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    const statuses = await Promise.all(
      Array.from({ length: 5 }, () => attempt(caller, jobId, 'POST', 'execute')),
    );

    expect(statuses.sort()).toEqual([202, 409, 409, 409, 409]);
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({ insertedRows: 1 });
  });

  it('give a repeated operation the first response', async () => {
    const caller = aCaller({ operationId: 'execute-once' });
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');

    const attempts = Array.from({ length: 4 }, () => attempt(caller, jobId, 'POST', 'execute'));
    expect(await Promise.all(attempts)).toEqual([202, 202, 202, 202]);
    expect(await attempt(caller, jobId, 'POST', 'execute')).toBe(202);
    expect(await attempt({ ...caller, operationId: 'another' }, jobId, 'POST', 'execute')).toBe(409);
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({ insertedRows: 1 });
  });

  it('give the first response to retries of other steps, which have changed the job since', async () => {
    const caller = aCaller();
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    await attempt(caller, job.id, 'POST', 'preview');
    const path = `/imports/${job.id}`;
    const { concurrencyStamp } = (await exchange.as(caller).get(path)).body;
    const confirm = async () => {
      const http = exchange.as({ ...caller, operationId: 'confirm' });
      return (await http.put(`${path}/mappings`, { ...mappings, concurrencyStamp })).status;
    };
    const cancel = (operationId: string) => attempt({ ...caller, operationId }, job.id, 'DELETE', '');

    expect([await confirm(), await confirm()]).toEqual([204, 204]);
    expect(await Promise.all([cancel('cancel'), cancel('cancel')])).toEqual([204, 204]);
    expect([await cancel('cancel'), await cancel('another')]).toEqual([204, 409]);
  });

  it('refuse another execution with the idempotency key of the first one', async () => {
    const caller = aCaller({ operationId: 'execute-once' });
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    const execute = (operationBodyHash: string, mode: string) =>
      exchange.as({ ...caller, operationBodyHash }).post(`/imports/${jobId}/execute`, { mode });

    expect((await execute('first', 'insert')).status).toBe(202);
    expect((await execute('first', 'insert')).status).toBe(202);
    const { status, body } = await execute('second', 'upsert');
    expect([status, body.type]).toEqual([422, expect.stringContaining('/idempotency-payload-mismatch')]);
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({ insertedRows: 1 });
  });

  it('include Cancelled before execution, which deletes the file', async () => {
    const caller = aCaller();
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const files = () => readdirSync(join(exchange.folder, caller.tenantId, 'imports'));
    expect(files()).toHaveLength(1);

    expect(await attempt(caller, job.id, 'DELETE', '')).toBe(204);
    expect(files()).toHaveLength(0);
  });

  it('include Cancelled during execution, which keeps and counts committed rows', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, manyRows);
    const release = await exchange.shop.hold('K12000');
    await attempt(caller, jobId, 'POST', 'execute');
    await eventually(async () => (await exchange.imports.get(caller.tenantId, jobId)).lastBatch >= 1);
    expect(await attempt(caller, jobId, 'DELETE', '')).toBe(204);
    await release();
    const report = await reportOf(exchange, caller, jobId);

    expect(report.finalStatus).toBe('Cancelled');
    expect(report.totalRows).toBe(60_000);
    expect(report.skippedRows).toBeGreaterThan(0);
    expect(report.insertedRows + report.skippedRows).toBe(60_000);
    expect(await exchange.shop.rows(caller.tenantId)).toHaveLength(report.insertedRows);
    expect(await attempt(caller, jobId, 'DELETE', '')).toBe(409);
  });

  it('are not visible to another tenant', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\nB,\n');
    const stranger = aCaller();

    for (const [method, step] of steps)
      expect([step, await attempt(stranger, jobId, method, step)]).toEqual([step, 404]);
    expect((await exchange.as(stranger).get(`/imports/${jobId}`)).status).toBe(404);
    expect((await exchange.as(stranger).get('/imports')).body.items).toEqual([]);
  });

  it('require the permission of the definition', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    const clerk = aCaller({
      tenantId: caller.tenantId,
      permissions: ['DataExchange.Imports.Read', 'DataExchange.Imports.Execute'],
    });
    const before = await exchange.imports.get(caller.tenantId, jobId);

    expect((await exchange.as(clerk).get(`/imports/${jobId}`)).status).toBe(200);
    for (const [method, step] of [
      ['POST', 'preview'],
      ['PUT', 'mappings'],
      ['POST', 'dry-run'],
      ['POST', 'execute'],
      ['DELETE', ''],
    ] as const)
      expect([step, await attempt(clerk, jobId, method, step)]).toEqual([step, 403]);
    const swapped = {
      mappings: [
        { sourceColumn: 'title', targetProperty: 'code' },
        { sourceColumn: 'code', targetProperty: 'title' },
      ],
      saveForReuse: true,
    };
    expect((await exchange.as(clerk).put(`/imports/${jobId}/mappings`, swapped)).status).toBe(403);
    expect((await exchange.as(clerk).put(`/imports/${jobId}/format`, { delimiter: ';' })).status).toBe(403);
    expect(await exchange.imports.get(caller.tenantId, jobId)).toEqual(before);

    await attempt(caller, jobId, 'POST', 'execute');
    await reportOf(exchange, caller, jobId);
    for (const step of ['report', 'correction-file', 'events'])
      expect(await attempt(clerk, jobId, 'GET', step)).toBe(403);
    expect(await attempt(clerk, jobId, 'POST', 'undo')).toBe(403);
    expect((await exchange.as(caller).get(`/imports/${jobId}/undo`)).status).toBe(404);
    expect(await exchange.shop.rows(caller.tenantId)).toMatchObject([{ code: 'A', title: 'a' }]);
  });

  it('end with all errors of a file whose columns are shifted by one', async () => {
    const caller = aCaller();
    const columns = 'code,title,stock,price,isNew,since,seenAt,kind';
    const shifted = Array.from(
      { length: 4_000 },
      (_, row) => `K${row}${',a word that is no value'.repeat(7)}\n`,
    );
    const jobId = await mappedImport(exchange, caller, `${columns}\n${shifted.join('')}`);

    const { status, body: dryRun } = await exchange.as(caller).post(`/imports/${jobId}/dry-run`);
    expect([status, dryRun.finalStatus, dryRun.failedRows]).toEqual([200, 'Failed', 4_000]);
    await attempt(caller, jobId, 'POST', 'execute');
    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Failed',
      failedRows: 4_000,
    });
    const { text } = await exchange.as(caller).get(`/imports/${jobId}/correction-file`);
    expect(text.trim().split('\r\n')).toHaveLength(4_001);
  });

  it('are sent as events until the end', async () => {
    const caller = aCaller();
    const { jobId } = await importFile(exchange, caller, 'code,title\nA,a\n');
    const { text } = await exchange.as(caller).get(`/imports/${jobId}/events`);

    expect(text).toContain('event: end');
    expect(text).toContain('"rowsDone":1');
  });

  it('survive that the data owner is unavailable for a moment', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, manyRows);
    await attempt(caller, jobId, 'POST', 'execute');
    await exchange.shop.restart(async () => {});

    expect(await reportOf(exchange, caller, jobId)).toMatchObject({
      finalStatus: 'Completed',
      insertedRows: 60_000,
    });
  });
});

describe('an import without a worker', () => {
  let exchange: DataExchange;

  beforeAll(async () => {
    // Steps that are held must not hold the places of those that they wait for.
    const environment = { EXCHANGE_PREVIEWS_MAX: '100', EXCHANGE_DRY_RUNS_MAX: '100' };
    exchange = await startDataExchange({ worker: false, environment });
  });
  afterAll(() => exchange.close());

  /** A job that executes, and nobody runs it yet. */
  const started = async (caller: Caller, content: string, onError: 'abort' | 'continue') => {
    const jobId = await mappedImport(exchange, caller, content);
    await exchange.imports.advance(caller.tenantId, jobId, 'execute', {
      status: 'Executing',
      options: { onError },
      caller: { ...caller, permissions: [...caller.permissions] },
      executedAt: new Date(),
    });
    return jobId;
  };
  const fail = (
    { tenantId }: Caller,
    jobId: string,
    {
      signal = new AbortController().signal,
      isLast = false,
      ...deps
    }: Partial<DataExchange> & { signal?: AbortSignal; isLast?: boolean } = {},
  ) =>
    failImport(
      { ...exchange, ...deps },
      { tenantId, jobId, reason: 'Something happened.' },
      { signal, isLast },
    );
  const cancel = ({ tenantId }: Caller, jobId: string) =>
    exchange.imports.advance(tenantId, jobId, 'cancel', { cancelRequestedAt: new Date() });
  const endOf = async (caller: Caller, jobId: string) =>
    (await exchange.as(caller).get(`/imports/${jobId}/report`)).body;

  describe.each(['abort', 'continue'] as const)('that cannot continue (on an error: %s)', (onError) => {
    const content = 'code,title\nA,a\nB,b\n';
    /** A job whose rows are committed, and whose run was killed before it counted them. */
    const committed = async (caller: Caller) => {
      const { tenantId } = caller;
      const jobId = await started(caller, content, onError);
      const { signal } = new AbortController();
      const killed = () => Promise.reject(new Error('killed'));
      const [imports, ranges] = [
        { ...exchange.imports, finish: killed },
        { ...exchange.ranges, countBatch: killed },
      ];
      await exchange.ranges.insert(tenantId, jobId, [wholeFile]);
      const run =
        onError === 'abort'
          ? importInSingleTransaction({ ...exchange, imports }, tenantId, jobId, signal)
          : importRange({ ...exchange, ranges }, { tenantId, jobId, range: 0, keysFirst: false }, signal);
      await expect(run).rejects.toThrow('killed');
      return jobId;
    };

    it('counts what it committed', async () => {
      const caller = aCaller();
      const jobId = await committed(caller);

      await fail(caller, jobId);

      expect(await endOf(caller, jobId)).toMatchObject({
        finalStatus: onError === 'abort' ? 'Completed' : 'Failed',
        totalRows: 2,
        insertedRows: 2,
      });
    });

    it('counts it later where its owner is away or the worker stops', async () => {
      const caller = aCaller();
      const jobId = await committed(caller);
      const away = () => {
        throw new Problem('overloaded', 'The shop is away.');
      };

      await expect(fail(caller, jobId, { owners: { ...exchange.owners, clientOf: away } })).rejects.toThrow(
        'away',
      );
      await expect(fail(caller, jobId, { signal: AbortSignal.abort(new Error('stops')) })).rejects.toThrow(
        'stops',
      );
      expect((await exchange.imports.get(caller.tenantId, jobId)).status).toBe('Executing');

      await fail(caller, jobId);
      expect(await endOf(caller, jobId)).toMatchObject({ insertedRows: 2 });
    });

    it('ends without a count where that fails unexpectedly each time', async () => {
      const caller = aCaller();
      const jobId = await committed(caller);
      const aBug = () => {
        throw new Error('a bug');
      };
      const owners = { ...exchange.owners, clientOf: aBug };

      await expect(fail(caller, jobId, { owners })).rejects.toThrow('a bug');
      expect((await exchange.imports.get(caller.tenantId, jobId)).status).toBe('Executing');

      await fail(caller, jobId, { owners, isLast: true });
      // Who was told that all or none failed would upload the file again.
      const finalStatus = onError === 'abort' ? 'Completed' : 'Failed';
      const errorMessage = expect.stringMatching(/could not be counted|than are counted/);
      expect(await endOf(caller, jobId)).toMatchObject({ finalStatus, insertedRows: 0, errorMessage });
    });

    it('is Cancelled where that was requested', async () => {
      const caller = aCaller();
      const jobId = await started(caller, content, onError);
      await cancel(caller, jobId);

      await fail(caller, jobId);

      expect(await endOf(caller, jobId)).toMatchObject({ finalStatus: 'Cancelled', insertedRows: 0 });
    });
  });

  it('saves confirmed mappings together with the step, so that no retry leaves them out', async () => {
    const caller = aCaller({ operationId: 'confirm' });
    const http = exchange.as(caller);
    const { body: job } = await upload(exchange, caller, 'code,title\nA,a\n');
    const { body: preview } = await http.post(`/imports/${job.id}/preview`);
    const body = { mappings: preview.suggestions, saveForReuse: true };
    // Whatever is stored after the step is lost with the process.
    const advance = jest.spyOn(exchange.imports, 'advance');
    const { advance: original } = importStore(exchange.db);
    advance.mockImplementationOnce(async (...step) => {
      await original(...step);
      throw new Error('killed');
    });
    await http.put(`/imports/${job.id}/mappings`, body);
    advance.mockRestore();

    expect((await http.put(`/imports/${job.id}/mappings`, body)).status).toBe(204);
    const hash = headerHash(['code', 'title']);
    expect(await exchange.savedMappings.get(caller.tenantId, 'Shop.Articles', hash)).toHaveLength(2);
  });

  describe('of all rows or none', () => {
    const executing = (caller: Caller, content: string) => started(caller, content, 'abort');
    const run = (deps: Partial<DataExchange>, { tenantId }: Caller, jobId: string) =>
      importInSingleTransaction({ ...exchange, ...deps }, tenantId, jobId, new AbortController().signal);
    const runUntilKilledAtEnd = async (caller: Caller, jobId: string) => {
      const finish = () => Promise.reject(new Error('killed'));
      const imports = { ...exchange.imports, finish };
      await expect(run({ imports }, caller, jobId)).rejects.toThrow('killed');
    };

    it('counts what a run committed that was killed then, also where it is cancelled since', async () => {
      const caller = aCaller();
      const jobId = await executing(caller, 'code,title\nA,a\nB,b\n');
      await runUntilKilledAtEnd(caller, jobId);
      await cancel(caller, jobId);

      await run({}, caller, jobId);

      expect(await endOf(caller, jobId)).toMatchObject({
        finalStatus: 'Cancelled',
        totalRows: 2,
        insertedRows: 2,
        skippedRows: 0,
      });
      expect(await exchange.shop.rows(caller.tenantId)).toHaveLength(2);
    });

    describe('finds the rows that failed again where the run that found them could not store its end', () => {
      const failedOnce = async (caller: Caller) => {
        const jobId = await executing(caller, 'code,title\nA,a\nB,\n');
        await runUntilKilledAtEnd(caller, jobId);
        return jobId;
      };

      it('by another run', async () => {
        const caller = aCaller();
        const jobId = await failedOnce(caller);

        await run({}, caller, jobId);

        expect(await endOf(caller, jobId)).toMatchObject({
          finalStatus: 'Failed',
          totalRows: 2,
          insertedRows: 0,
          skippedRows: 1,
          failedRows: 1,
          rowErrors: [{ rowNumber: 3 }],
        });
        expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
      });

      it('unless it is cancelled meanwhile', async () => {
        const caller = aCaller();
        const jobId = await failedOnce(caller);
        let hasBegun = false;
        const get = async (tenantId: string, id: string) => {
          const job = await exchange.imports.get(tenantId, id);
          if (!hasBegun) await cancel(caller, jobId);
          hasBegun = true;
          return job;
        };

        await run({ imports: { ...exchange.imports, get } }, caller, jobId);

        expect(await endOf(caller, jobId)).toMatchObject({ finalStatus: 'Cancelled', insertedRows: 0 });
      });
    });

    it.each([
      ['cancelled', async (caller: Caller, jobId: string) => void (await cancel(caller, jobId)), run],
      [
        'failed',
        async () => undefined,
        (_deps: object, caller: Caller, jobId: string) => fail(caller, jobId),
      ],
    ])('stores nothing once it is %s, by a run that only seemed dead either', async (_how, before, end) => {
      const caller = aCaller();
      const jobId = await executing(caller, 'code,title\nA,a\nB,b\n');
      const [opened, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const file = await exchange.imports.get(caller.tenantId, jobId);
      const bytes = await buffer(await exchange.blobs.get(file.blobKey));
      const get = async () => {
        opened.resolve();
        await released.promise;
        return Readable.from([bytes]);
      };
      const late = run({ blobs: { ...exchange.blobs, get } }, caller, jobId);
      await opened.promise;
      await before(caller, jobId);

      await end({}, caller, jobId);
      released.resolve();
      await late;

      expect(await endOf(caller, jobId)).toMatchObject({ insertedRows: 0 });
      expect(await exchange.shop.rows(caller.tenantId)).toEqual([]);
    });
  });

  describe('takes two steps at the same moment as one after the other:', () => {
    const content = 'code,title;x\nA,first;y\n';
    const whole = { code: 'code', 'title;x': 'title' };
    const confirmed = (targets: Record<string, string | null>) => ({
      mappings: Object.entries(targets).map(([sourceColumn, targetProperty]) => ({
        sourceColumn,
        targetProperty,
      })),
    });
    type Http = ReturnType<DataExchange['as']>;
    type Step = (http: Http, jobId: string) => Promise<{ status: number; body?: unknown }>;
    const preview: Step = (http, jobId) => http.post(`/imports/${jobId}/preview`);
    const confirm: Step = (http, jobId) => http.put(`/imports/${jobId}/mappings`, confirmed(whole));
    const allSteps: Record<string, Step> = {
      preview,
      delimiter: (http, jobId) => http.put(`/imports/${jobId}/format`, { delimiter: ';' }),
      'order of dates': (http, jobId) => http.put(`/imports/${jobId}/format`, { dateOrder: 'DayMonthYear' }),
      draft: (http, jobId) => http.put(`/imports/${jobId}/draft-mappings`, confirmed({ code: null })),
      confirm,
      'preview and confirm': async (http, jobId) => {
        await preview(http, jobId);
        return confirm(http, jobId);
      },
      'dry-run': (http, jobId) => http.post(`/imports/${jobId}/dry-run`),
      execute: (http, jobId) => http.post(`/imports/${jobId}/execute`),
      cancel: (http, jobId) => http.delete(`/imports/${jobId}`),
    };
    const { 'dry-run': _reads, preview: _preview, ...changes } = allSteps;
    const { 'preview and confirm': _two, ...firstSteps } = allSteps;

    /** The read of a job by one step behind which it waits for the other step. */
    const held = new Map<string, { left: number; read: () => void; released: Promise<void> }>();
    const holding =
      <Job>(read: (tenantId: string, id: string) => Promise<Job>) =>
      async (tenantId: string, id: string): Promise<Job> => {
        const job = await read(tenantId, id);
        const hold = held.get(id);
        if (!hold || --hold.left > 0) return job;
        held.delete(id);
        hold.read();
        await hold.released;
        return job;
      };
    beforeAll(() => {
      exchange.imports.get = holding(exchange.imports.get);
      exchange.imports.getState = holding(exchange.imports.getState);
    });

    /** What a job is and what two steps answered, which `take` takes in some order. */
    const outcomeOf = async (
      start: string,
      [first, second]: readonly [string, string],
      take: (one: () => Promise<unknown>, other: () => Promise<unknown>, jobId: string) => Promise<void>,
    ) => {
      const caller = aCaller();
      const http = exchange.as(caller);
      const { body: uploaded } = await upload(exchange, caller, content);
      const jobId: string = uploaded.id;
      if (start === 'Mapped') await allSteps['preview and confirm']!(http, jobId);
      const answers: [unknown, unknown] = [undefined, undefined];
      const taking = (name: string, at: 0 | 1) => async () => {
        const { status } = await allSteps[name]!(http, jobId);
        answers[at] = status;
      };
      await take(taking(first, 0), taking(second, 1), jobId);
      const job = await exchange.imports.get(caller.tenantId, jobId);
      const { status, format, headers, mappings, options, executedAt, cancelRequestedAt } = job;
      const marks = [executedAt, cancelRequestedAt].map((time) => time !== null);
      return JSON.stringify({ answers, status, format, headers, mappings, options, marks });
    };
    const inTurn = (start: string, steps: readonly [string, string]) =>
      outcomeOf(start, steps, async (one, other) => {
        await one();
        await other();
      });
    const inOtherTurn = (start: string, steps: readonly [string, string]) =>
      outcomeOf(start, steps, async (one, other) => {
        await other();
        await one();
      });
    /** The other step comes between a read of the first one and what the first one does with it. */
    const atOnce = (start: string, steps: readonly [string, string], left: number) =>
      outcomeOf(start, steps, async (one, other, jobId) => {
        const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        held.set(jobId, { left, read: read.resolve, released: released.promise });
        const taking = one();
        await Promise.race([read.promise, taking]);
        held.delete(jobId);
        await other();
        released.resolve();
        await taking;
      });

    it.each([
      ...['preview', 'delimiter', 'cancel'].map((name) => ['Created', name] as const),
      ...Object.keys(firstSteps).map((name) => ['Mapped', name] as const),
    ])('of a job that is %s: %s, and any other', async (start, name) => {
      await Promise.all(
        Object.keys(changes).map(async (other) => {
          const steps = [name, other] as const;
          const inSomeOrder = [await inTurn(start, steps), await inOtherTurn(start, steps)];
          for (const read of [1, 2])
            expect([other, read, inSomeOrder]).toEqual([
              other,
              read,
              expect.arrayContaining([await atOnce(start, steps, read)]),
            ]);
        }),
      );
    });
  });

  it('is executed as it is then where it was changed at the same moment', async () => {
    const caller = aCaller();
    const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
    const advance = jest.spyOn(exchange.imports, 'advance').mockRejectedValueOnce(new JobChanged());
    const { status } = await exchange.as(caller).post(`/imports/${jobId}/execute`);
    advance.mockRestore();

    expect(status).toBe(202);
    expect((await exchange.imports.get(caller.tenantId, jobId)).status).toBe('Executing');
  });

  it.each(['dry-run', 'execute'])(
    'is not read by mappings that its definition no longer takes: %s',
    async (step) => {
      const caller = aCaller();
      const jobId = await mappedImport(exchange, caller, 'code,title\nA,a\n');
      const mappings = [
        { sourceColumn: 'code', targetProperty: 'code' },
        { sourceColumn: 'title', targetProperty: 'a property of a former version' },
      ];
      await exchange.imports.advance(caller.tenantId, jobId, 'confirm mappings', { mappings });

      const { status, body } = await exchange.as(caller).post(`/imports/${jobId}/${step}`);

      expect([status, Object.keys(body.errors)]).toEqual([422, ['mappings[1].targetProperty', 'mappings']]);
      expect((await exchange.as(caller).get(`/imports/${jobId}`)).body.status).toBe('Mapped');
    },
  );

  describe('has mappings that', () => {
    const previewOf = async (caller: ReturnType<typeof aCaller>, header: string) => {
      const { body: job } = await upload(exchange, caller, `${header}\n1,2,3\n`);
      return { job, preview: (await exchange.as(caller).post(`/imports/${job.id}/preview`)).body };
    };

    it('are suggested by name, similarity and meaning, each property once', async () => {
      const { preview } = await previewOf(aCaller(), 'SKU,Titel,Colour');

      expect(preview.suggestions).toEqual([
        { sourceColumn: 'SKU', targetProperty: 'code', confidence: 'Semantic' },
        { sourceColumn: 'Titel', targetProperty: null, confidence: 'Manual' },
        { sourceColumn: 'Colour', targetProperty: null, confidence: 'Manual' },
      ]);
    });

    it('are suggested again for the next file with the same header, within the tenant', async () => {
      const caller = aCaller();
      const { job } = await previewOf(caller, 'a,b,c');
      const mappings = [
        { sourceColumn: 'a', targetProperty: 'title' },
        { sourceColumn: 'b', targetProperty: 'code' },
      ];
      await exchange.as(caller).put(`/imports/${job.id}/mappings`, { mappings, saveForReuse: true });

      const { preview } = await previewOf(caller, 'A,B,C');
      expect(preview.suggestions.slice(0, 2)).toEqual([
        { sourceColumn: 'A', targetProperty: 'title', confidence: 'Saved' },
        { sourceColumn: 'B', targetProperty: 'code', confidence: 'Saved' },
      ]);
      const { preview: reordered } = await previewOf(caller, 'c,b,a');
      expect(reordered.suggestions.slice(1)).toEqual([
        { sourceColumn: 'b', targetProperty: 'code', confidence: 'Saved' },
        { sourceColumn: 'a', targetProperty: 'title', confidence: 'Saved' },
      ]);
      const { preview: foreign } = await previewOf(aCaller(), 'A,B,C');
      expect(foreign.suggestions[0].confidence).not.toBe('Saved');
    });

    it.each([
      [
        [{ sourceColumn: 'code', targetProperty: 'code' }],
        { mappings: ['Service:Validation:NotEmptyValidator'] },
      ],
      [
        [
          { sourceColumn: 'code', targetProperty: 'code' },
          { sourceColumn: 'title', targetProperty: 'title' },
          { sourceColumn: 'x', targetProperty: 'title' },
        ],
        { 'mappings[2].targetProperty': ['Service:Validation:UniqueValidator'] },
      ],
      [
        [
          { sourceColumn: 'code', targetProperty: 'code' },
          { sourceColumn: 'title', targetProperty: 'title' },
          { sourceColumn: 'nothing', targetProperty: 'stock' },
        ],
        { 'mappings[2].sourceColumn': ['Service:Validation:EnumValidator'] },
      ],
      [
        [
          { sourceColumn: 'code', targetProperty: 'code' },
          { sourceColumn: 'title', targetProperty: 'title' },
          { sourceColumn: 'x', targetProperty: 'nothing' },
        ],
        { 'mappings[2].targetProperty': ['Service:Validation:EnumValidator'] },
      ],
    ])('are refused where they contradict the file or the definition: %j', async (mappings, errors) => {
      const caller = aCaller();
      const { job } = await previewOf(caller, 'code,title,x');
      const response = await exchange.as(caller).put(`/imports/${job.id}/mappings`, { mappings });

      expect(response.status).toBe(422);
      expect(response.body.errors).toEqual(errors);
    });
  });
});
