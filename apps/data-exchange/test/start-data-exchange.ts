import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ExchangeDefinition } from '@plinth/exchange/definition';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventStream } from '@plinth/testing/event-streams';
import { eventually } from '@plinth/testing/eventually';
import { serveForTest, TEST_KEYS, type TestResponse } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase } from '@plinth/testing/test-database';
import { bundleWorkflows } from '@plinth/testing/workflow-bundle';
import { Context } from '@temporalio/activity';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { DataExchangeConfig } from '../src/config';
import type { RangeToImport } from '../src/app/import-range';
import { createActivities } from '../src/temporal/activities';
import { Attempt } from '../src/temporal/attempt';
import { startWorker } from '../src/temporal/run-worker';
import { startShop } from './a-shop';

export interface StartOptions {
  environment?: Record<string, string>;
  /** Address of a localization area; none unless given. */
  localization?: string;
  /** Work off jobs in this process; true unless told otherwise. */
  worker?: boolean;
  /** As how many workers the one of this process counts; asked for each import. */
  countWorkers?: () => number;
  /** Where the worker stores files, made from where the service does. */
  storeOfWorker?: (blobs: BlobStore) => BlobStore;
  /** Definitions of the shop beside its articles. */
  definitions?: readonly ExchangeDefinition[];
  /** Comes before each turn on a range of a file. */
  beforeTurn?: (range: RangeToImport) => Promise<void>;
}

let isRuntimeInstalled = false;

/** Only where a worker will run in it: the end of the last one ends it, and nothing else does, so that the process would stay. */
function installRuntime(): void {
  if (!isRuntimeInstalled) Runtime.install({ logger: new DefaultLogger('ERROR') });
  isRuntimeInstalled = true;
}

export const workflowBundle = () => bundleWorkflows(join(__dirname, '../src/temporal/workflows/index.ts'));

/** Starts the service on real stores, with a shop that owns articles and with a worker; close it when done. */
export async function startDataExchange(options: StartOptions = {}) {
  const closers: Close[] = [];
  const onClose = (close: Close) => void closers.push(close);
  const shop = await startShop(options.definitions);
  onClose(shop.close);
  const database = await createTestDatabase('data-exchange');
  onClose(database.drop);
  const folder = mkdtempSync(join(tmpdir(), 'plinth-exchange-'));
  onClose(() => rmSync(folder, { recursive: true, force: true }));
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL_DATA_EXCHANGE: database.url,
    ...(await eventStream()),
    TEMPORAL_ADDRESS: infrastructure().temporalAddress,
    EXCHANGE_TASK_QUEUE: `test-${newId()}`,
    BLOB_URL: pathToFileURL(folder).href,
    GRPC_SERVICES: [
      `shop=${shop.address}`,
      ...(options.localization ? [`localization=${options.localization}`] : []),
    ].join(','),
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    EVENT_KEYS: TEST_KEYS.join(','),
    ...options.environment,
  };
  const config = DataExchangeConfig.parse(environment);
  const log = silentLog();
  const deps = await compose(config, log, onClose);
  if (options.worker !== false) {
    installRuntime();
    const activities = createActivities({
      ...deps,
      blobs: options.storeOfWorker?.(deps.blobs) ?? deps.blobs,
      countWorkers: async () => options.countWorkers?.() ?? deps.countWorkers(),
    });
    const importRange: typeof activities.importRange = async (range) => {
      // Without a sign of life another attempt would begin beside it.
      await new Attempt(Context.current()).whileAlive(async () => options.beforeTurn?.(range));
      return activities.importRange(range);
    };
    onClose(
      startWorker({
        config,
        log,
        workflowBundle: await workflowBundle(),
        activities: { ...activities, importRange },
      }),
    );
  }
  const server = await serveForTest(createApp(deps));
  onClose(server.close);
  // On a busy machine the first calls may take longer than a request waits for them.
  await eventually(async () => (await deps.owners.list()).length > 0);
  if (environment.TEMPORAL_ADDRESS === infrastructure().temporalAddress)
    await eventually(() => deps.temporal.check().then(() => true));
  return { ...deps, shop, environment, folder, as: server.as, close: () => closeAll(closers, log) };
}

export type DataExchange = Awaited<ReturnType<typeof startDataExchange>>;

export interface FormPart {
  name: string;
  content: string | Uint8Array;
  fileName?: string;
}

/** Uploads a file as a client does. */
export async function upload(
  exchange: DataExchange,
  caller: Caller,
  content: string | Uint8Array,
  options: {
    definitionName?: string;
    fileName?: string;
    definitionFirst?: boolean;
    acceptLanguage?: string;
  } = {},
): Promise<TestResponse> {
  const file = { name: 'file', content, fileName: options.fileName ?? 'articles.csv' };
  const definition = { name: 'definitionName', content: options.definitionName ?? 'Shop.Articles' };
  const parts = options.definitionFirst ? [definition, file] : [file, definition];
  return sendForm(exchange, caller, parts, { 'accept-language': options.acceptLanguage ?? 'en' });
}

export async function sendForm(
  exchange: DataExchange,
  caller: Caller,
  parts: readonly FormPart[],
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const form = new FormData();
  for (const { name, content, fileName } of parts) {
    if (fileName === undefined) form.append(name, String(content));
    else form.append(name, new Blob([content as Uint8Array<ArrayBuffer>]), fileName);
  }
  const encoded = new Response(form);
  return exchange.as(caller).post('/imports', new Uint8Array(await encoded.arrayBuffer()), {
    headers: { ...headers, 'content-type': encoded.headers.get('content-type')! },
  });
}

/** Uploads, previews and confirms the suggested mappings; answers the id of a job that can be executed. */
export async function mappedImport(
  exchange: DataExchange,
  caller: Caller,
  content: string | Uint8Array,
  encoding?: string,
  file: { definitionName?: string } = {},
): Promise<string> {
  const http = exchange.as(caller);
  const { body: job, status } = await upload(exchange, caller, content, file);
  if (status !== 201) throw new Error(`The upload was answered with ${status}: ${JSON.stringify(job)}`);
  if (encoding !== undefined) {
    const said = await http.put(`/imports/${job.id}/format`, { encoding });
    if (said.status !== 200) throw new Error(JSON.stringify(said.body));
  }
  const preview = await http.post(`/imports/${job.id}/preview`);
  if (preview.status !== 200) throw new Error(JSON.stringify(preview.body));
  const confirmed = await http.put(`/imports/${job.id}/mappings`, { mappings: preview.body.suggestions });
  if (confirmed.status !== 204) throw new Error(JSON.stringify(confirmed.body));
  return job.id;
}

const finalStates = ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'];

/** Waits until a job has ended and answers its report. */
export async function reportOf(
  exchange: DataExchange,
  caller: Caller,
  jobId: string,
  millisecondsMax?: number,
) {
  const http = exchange.as(caller);
  await eventually(async () => {
    const { body } = await http.get(`/imports/${jobId}`);
    return finalStates.includes(body.status);
  }, millisecondsMax);
  return (await http.get(`/imports/${jobId}/report`)).body;
}

/** The whole way of an import, with the mappings that are suggested. */
export async function importFile(
  exchange: DataExchange,
  caller: Caller,
  content: string | Uint8Array,
  options?: { mode?: string; onError?: string },
  file?: { definitionName?: string },
) {
  const jobId = await mappedImport(exchange, caller, content, undefined, file);
  const { status, body } = await exchange.as(caller).post(`/imports/${jobId}/execute`, options);
  if (status !== 202) throw new Error(JSON.stringify(body));
  return { jobId, report: await reportOf(exchange, caller, jobId) };
}

/** Exports and waits for the file. */
export async function exportFile(
  exchange: DataExchange,
  caller: Caller,
  request: object = {},
  millisecondsMax?: number,
) {
  const http = exchange.as(caller);
  const { body: job, status } = await http.post('/exports/jobs', {
    definitionName: 'Shop.Articles',
    format: 'csv',
    ...request,
  });
  if (status !== 202) throw new Error(JSON.stringify(job));
  const ended = await eventually(async () => {
    const { body } = await http.get(`/exports/jobs/${job.id}`);
    return ['Completed', 'Failed'].includes(body.status) ? body : undefined;
  }, millisecondsMax);
  return { job: ended, file: await http.get(`/exports/jobs/${job.id}/download`) };
}
