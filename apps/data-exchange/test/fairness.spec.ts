import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { detailsOf } from '../src/temporal/job-failure';
import { importFile, mappedImport, startDataExchange, type DataExchange } from './start-data-exchange';

/** So many turns a worker gives at the same time. */
const TURNS_AT_ONCE = 4;
const LARGE_FILES = 12;
const { PENDING_ACTIVITY_STATE_SCHEDULED: SCHEDULED } = temporal.api.enums.v1.PendingActivityState;

const rows = (count: number): string =>
  `code,title,stock\n${Array.from({ length: count }, (_, row) => `K${row},Title of ${row},${row}\n`).join('')}`;

/** Lets turns begin one by one, and knows whose they were. */
function turnstile() {
  const tenants: string[] = [];
  const waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    tenants,
    async enter({ tenantId }: { tenantId: string }): Promise<void> {
      tenants.push(tenantId);
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    letOneGo: () => waiting.shift()?.(),
    open() {
      isOpen = true;
      for (const go of waiting.splice(0)) go();
    },
  };
}

describe('imports while one tenant has more large files than a worker can run', () => {
  const greedy = aCaller();
  const other = aCaller();
  const turns = turnstile();
  const small = new Set<string>();
  let exchange: DataExchange;

  const startLarge = async (caller: typeof greedy) => {
    const jobId = await mappedImport(exchange, caller, rows(2_000));
    await exchange.as(caller).post(`/imports/${jobId}/execute`);
    return jobId;
  };
  /** Whether a step of an import waits for a place among long activities. */
  const waitsForPlace = async (jobId: string): Promise<boolean> => {
    const client = await exchange.temporal.client();
    const { raw } = await client.workflow.getHandle(jobId).describe();
    return (raw.pendingActivities ?? []).some(
      ({ activityType, state }) => activityType?.name !== 'planImport' && state === SCHEDULED,
    );
  };

  beforeAll(async () => {
    exchange = await startDataExchange({
      environment: { EXCHANGE_RANGE_BYTES: '30000' },
      beforeTurn: async (range) => {
        if (!small.has(range.tenantId)) await turns.enter(range);
      },
    });
    for (let file = 0; file < LARGE_FILES; file++) await startLarge(greedy);
    await eventually(() => turns.tenants.length === TURNS_AT_ONCE);
  });
  afterAll(async () => {
    turns.open();
    await exchange.close();
  });

  it.each([{}, { onError: 'abort' }])(
    'run a small file of another tenant without waiting for them: %o',
    async (options) => {
      const caller = aCaller();
      small.add(caller.tenantId);

      const { report } = await importFile(exchange, caller, rows(1_000), options);

      expect(report).toMatchObject({ finalStatus: 'Completed', insertedRows: 1_000 });
      expect(turns.tenants).toHaveLength(TURNS_AT_ONCE);
    },
  );

  it('run a large file of another tenant before the next ranges of all of them', async () => {
    const jobId = await startLarge(other);
    const hasTurn = () => turns.tenants.includes(other.tenantId);
    for (let turn = turns.tenants.length; !hasTurn(); turn++) {
      // However long its workflow takes from one step to the next one, it is not passed over meanwhile.
      await eventually(async () => hasTurn() || (await waitsForPlace(jobId)));
      turns.letOneGo();
      await eventually(() => turns.tenants.length > turn || undefined);
    }

    expect(turns.tenants.length).toBeLessThanOrEqual(TURNS_AT_ONCE + LARGE_FILES / 2);
  });
});

describe('jobs while one tenant has more than a worker can run, each of which takes long', () => {
  const greedy = aCaller();
  const crowd = aCaller();
  const held = Promise.withResolvers<void>();
  let exchange: DataExchange;

  const startExport = async (caller: typeof greedy): Promise<string> => {
    const body = { definitionName: 'Shop.Articles', format: 'csv' };
    return (await exchange.as(caller).post('/exports/jobs', body)).body.id;
  };
  const statusOf = async (caller: typeof greedy, jobId: string): Promise<string> =>
    (await exchange.as(caller).get(`/exports/jobs/${jobId}`)).body.status;

  const withHeldFiles = (blobs: BlobStore): BlobStore => ({
    ...blobs,
    get: async (key, part) => {
      if (key.startsWith(crowd.tenantId)) await held.promise;
      return blobs.get(key, part);
    },
    put: async (key, content) => {
      const stored = await blobs.put(key, content);
      if (key.startsWith(greedy.tenantId)) await held.promise;
      return stored;
    },
  });

  beforeAll(async () => {
    exchange = await startDataExchange({ storeOfWorker: withHeldFiles });
  });
  afterAll(async () => {
    held.resolve();
    await exchange.close();
  });

  it('take turns by tenant with the steps of their workflows too', async () => {
    const caller = aCaller();
    const jobId = await startExport(caller);
    const client = await exchange.temporal.client();
    const { raw } = await eventually(() => client.workflow.getHandle(jobId).describe());

    expect(raw.workflowExecutionInfo?.priority).toMatchObject({ fairnessKey: caller.tenantId });
  });

  it('import small files of other tenants without waiting for those', async () => {
    for (let count = 0; count < 6; count++) {
      const jobId = await mappedImport(exchange, crowd, rows(10));
      await exchange.as(crowd).post(`/imports/${jobId}/execute`);
    }
    for (const onError of ['continue', 'abort']) {
      const { report } = await importFile(exchange, aCaller(), rows(10), { onError });
      expect(report).toMatchObject({ finalStatus: 'Completed', insertedRows: 10 });
    }
  });

  it('export for other tenants without waiting for those', async () => {
    const jobs: string[] = [];
    for (let count = 0; count < 6; count++) jobs.push(await startExport(greedy));
    const statuses = () => Promise.all(jobs.map((jobId) => statusOf(greedy, jobId)));
    await eventually(async () => (await statuses()).includes('Exporting'));

    const other = aCaller();
    const jobId = await startExport(other);

    await eventually(async () => (await statusOf(other, jobId)) === 'Completed');
    expect((await statuses()).filter((status) => status === 'Exporting').length).toBeLessThanOrEqual(2);
    // What keeps them waiting is not taken for failures of theirs.
    const client = await exchange.temporal.client();
    const failuresForOthers = async (id: string): Promise<number> => {
      const { raw } = await client.workflow.getHandle(id).describe();
      const [details] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
      if (!details) return 0;
      const heartbeatDetails = defaultPayloadConverter.fromPayload(details);
      return detailsOf({ attempt: 1, heartbeatDetails }).forOthers;
    };
    await eventually(async () => {
      const failures = await Promise.all(jobs.map(failuresForOthers));
      // Whichever two have the places.
      return failures.filter((count) => count > 1).length >= jobs.length - 2;
    });

    held.resolve();
    await eventually(async () => (await statuses()).every((status) => status === 'Completed'));
  });
});
