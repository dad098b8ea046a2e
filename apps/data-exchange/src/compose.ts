import { createCallerCulture } from '@plinth/clients/caller-culture';
import { ByteBudget, measureBytes } from '@plinth/runtime/process/byte-budget';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import {
  EventLoopTurns,
  FairPlaces,
  turnsAt,
  type FairPlacesOptions,
} from '@plinth/runtime/process/fair-places';
import { systemClock } from '@plinth/kernel/clock';
import { openBlobStore } from '@plinth/runtime/blobs/open-blob-store';
import { unrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import { createTemporal } from '@plinth/runtime/temporal/temporal';
import type { DataExchangeConfig } from './config';
import { ArrivingBytes } from './app/arriving-bytes';
import { SCRATCH_SHARES } from './app/open-rows';
import { SharedProgress } from './app/shared-progress';
import { placesOfLargeBatches } from './app/uncounted-rows';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { connectOwners } from './grpc/owners';
import { messageTexts as createMessageTexts } from './grpc/message-texts';
import { exchangeJobStore } from './store/exchange-job-store';
import { exportStore } from './store/export-store';
import { failedRowStore } from './store/failed-row-store';
import { importStore } from './store/import-store';
import { tenantUsageStore } from './store/tenant-usage-store';
import { importUndoStore } from './store/import-undo-store';
import { expiredCounter } from './store/job-metrics';
import { keptQuota } from './store/kept-quota';
import { keyQuota } from './store/key-quota';
import { keyStore } from './store/key-store';
import { mappingStore } from './store/mapping-store';
import { overdueJobStore } from './store/overdue-job-store';
import { presetStore } from './store/preset-store';
import { rangeStore } from './store/range-store';
import { jobStarter } from './temporal/client';
import { countWorkers } from './temporal/worker-count';

/**
 * Workbooks that previews and dry-runs read at the same time, each in a process of its own. A tenant reads two of them: a
 * dry-run of a large one takes minutes.
 */
const WORKBOOKS_MAX = 3;
/** Dry-runs of workbooks, which take minutes: beside them a preview has a place. */
const WORKBOOK_DRY_RUNS_MAX = 2;

/** Reports of imports that are made at the same time: one is megabytes, and three times as many while it is made. */
const REPORTS_MAX = 4;
/** Uploads whose format is found at the same time, by their first bytes and by the corrections that earlier imports asked for. */
const DETECTIONS_MAX = 4;

/** Downloads of correction files at the same time, which are written as their clients read them. */
const CORRECTION_FILES_MAX = 16;
const CORRECTION_FILE_MILLISECONDS_MAX = 10_000;

/** How many of each kind may wait for a place. */
const WAITING_MAX = 100;

const places = (
  count: number,
  what: string,
  options: Pick<FairPlacesOptions, 'timesFree' | 'patienceMilliseconds'> = {},
): FairPlaces =>
  new FairPlaces({
    ...options,
    places: count,
    waitingMax: WAITING_MAX,
    refused: (scope) => shareUsedUp(scope, `${what} that wait`, 10),
  });

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: DataExchangeConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('data-exchange');
  const { pool, db, checks, informative } = await openServiceStore<Prisma.TransactionClient>({
    url: config.DATABASE_URL_DATA_EXCHANGE,
    createClient: (adapter) => new PrismaClient({ adapter }),
    migrations,
    config,
    log,
    metrics,
    onClose,
  });

  const blobs = openBlobStore(config.BLOB_URL);
  const owners = connectOwners(config.GRPC_SERVICES, config.CALLER_KEYS, log, metrics);
  onClose(owners.close);
  const cultures = createCallerCulture(config, log, metrics);
  onClose(cultures.close);
  const messageTexts = createMessageTexts(config, cultures, log, metrics);
  onClose(messageTexts.close);
  const temporal = createTemporal(config);
  onClose(temporal.close);

  const dryRunPlaces = places(config.EXCHANGE_DRY_RUNS_MAX, 'dry-runs');
  const previewPlaces = places(config.EXCHANGE_PREVIEWS_MAX, 'previews');
  const workbookPlaces = places(WORKBOOKS_MAX, 'workbooks', { timesFree: 2 });
  const scratch = new ByteBudget(config.EXCHANGE_SCRATCH_BYTES_MAX, SCRATCH_SHARES);
  measureBytes(metrics, { workbooks: scratch });
  const workbookDryRunPlaces = places(WORKBOOK_DRY_RUNS_MAX, 'dry-runs of workbooks');
  const reportPlaces = places(REPORTS_MAX, 'reports');
  const detectionPlaces = turnsAt(DETECTIONS_MAX);
  const correctionFiles = places(CORRECTION_FILES_MAX, 'correction files', {
    patienceMilliseconds: CORRECTION_FILE_MILLISECONDS_MAX,
  });
  const turns = new EventLoopTurns();
  const imports = importStore(db);
  const ranges = rangeStore(db);
  const undos = importUndoStore(db);
  const exports = exportStore(db);
  const overdueJobs = overdueJobStore(pool);
  const starter = jobStarter({ config, temporal, imports, undos, exports, overdueJobs, log });

  const keys = keyStore(pool, keyQuota({ config, db, log, metrics }));
  // Without Temporal no job starts, but everything else works, so the process stays ready.
  const health = new Health(checks, { informative: { ...informative, blobs: blobs.check }, log });
  return {
    config,
    log,
    clock: systemClock,
    pool,
    db,
    blobs,
    unrecordedBlobs: unrecordedBlobs(db, blobs),
    owners,
    cultures,
    messageTexts,
    temporal,
    imports,
    ranges,
    keys,
    undos,
    exports,
    failedRows: failedRowStore(db, turns),
    savedMappings: mappingStore(db),
    exchangeJobs: exchangeJobStore(db),
    usage: tenantUsageStore(db),
    kept: keptQuota({ config, db, log, metrics }),
    progress: new SharedProgress(),
    arriving: new ArrivingBytes(),
    turns,
    largeBatches: placesOfLargeBatches(),
    dryRunPlaces,
    previewPlaces,
    workbookPlaces,
    scratch,
    workbookDryRunPlaces,
    reportPlaces,
    detectionPlaces,
    correctionFiles,
    presets: presetStore(db),
    countWorkers: () => countWorkers(temporal, config),
    starter,
    checks,
    health,
    metrics,
    countExpired: expiredCounter(metrics),
  };
}
