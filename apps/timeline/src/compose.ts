import { createCallerCulture } from '@plinth/clients/caller-culture';
import { PAGE_READS } from '@plinth/http/read-page';
import { RowQuota } from '@plinth/http/row-quota';
import { systemClock } from '@plinth/kernel/clock';
import { openBlobStore } from '@plinth/runtime/blobs/open-blob-store';
import { unrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import { EventLoopTurns, measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { eventConsumer } from '@plinth/runtime/messaging/consumer';
import { measureStream } from '@plinth/runtime/messaging/stream-metrics';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import type { TimelineConfig } from './config';
import { subscriptions } from './events/subscriptions';
import { wakeSignal } from './events/wake-signal';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { blobRecordStore } from './store/blob-record-store';
import { dueEntries, startNotifyingDueEntries } from './store/due-entries';
import { entryQuota } from './store/entry-quota';
import { entryStore } from './store/entry-store';
import { EACH_FOLLOWER, followerStore } from './store/follower-store';
import { notificationStore } from './store/notification-store';
import { peopleStore } from './store/people-store';
import { startInterruptedBlobCleanup, startUnusedBlobCleanup, unusedBlobs } from './store/unused-blobs';

/**
 * How many streams read at the same time. An entry wakes all streams that are open for its readers, and whoever opens a
 * thousand reads a thousand times: without turns every request would wait for a connection behind them.
 */
const STREAM_READS = 4;

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: TimelineConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('timeline');
  const { pool, bulkPool, db, messaging, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_TIMELINE,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });
  const cultures = createCallerCulture(config, log, metrics);
  onClose(cultures.close);

  const ofRows = { db, log, metrics };
  const followerQuota = new RowQuota({
    ...ofRows,
    table: 'follower',
    where: EACH_FOLLOWER,
    quota: 'followers',
    what: 'followers',
    limit: config.TIMELINE_TENANT_FOLLOWERS_MAX,
  });
  const peopleQuota = new RowQuota({
    ...ofRows,
    table: 'person',
    quota: 'people',
    what: 'people',
    limit: config.TIMELINE_TENANT_PEOPLE_MAX,
  });
  const notificationQuota = new RowQuota({
    ...ofRows,
    table: 'notification',
    quota: 'notifications',
    what: 'notifications',
    limit: config.TIMELINE_TENANT_NOTIFICATIONS_MAX,
  });

  const signal = wakeSignal(messaging, 'told');
  onClose(signal.close);
  const timelineSignal = wakeSignal(messaging, 'changed');
  onClose(timelineSignal.close);
  const due = dueEntries({ db, clock: systemClock, quota: notificationQuota, signal });
  const dueNotification = startNotifyingDueEntries(due, log);
  onClose(dueNotification.close);
  const consumer = eventConsumer(
    'timeline',
    subscriptions({
      signal,
      timelineSignal,
      notificationQuota,
      dueEntries: dueNotification,
      sharesEntries: config.TIMELINE_SHARED_ENTRIES,
      clock: systemClock,
    }),
    db,
    messaging,
    log,
  );
  onClose(await consumer.start());

  const streamReads = turnsAt(STREAM_READS);
  const pageReads = turnsAt(PAGE_READS);
  // Of all processes that could, those of one service.
  measureStream(metrics, messaging);
  measurePlaces(metrics, {
    'stream-reads': streamReads,
    'page-reads': pageReads,
  });

  const blobs = openBlobStore(config.BLOB_URL);
  const unrecorded = unrecordedBlobs(db, blobs);
  const unused = unusedBlobs(db, blobs, systemClock);
  const unusedBlobCleanup = startUnusedBlobCleanup(unused, log);
  onClose(unusedBlobCleanup.close);
  onClose(
    startInterruptedBlobCleanup({ blobs, unrecordedBlobs: unrecorded, clock: systemClock, config }, log)
      .close,
  );
  const health = new Health(checks, { informative: { ...informative, blobs: blobs.check }, log });
  return {
    config,
    log,
    pool,
    bulkPool,
    outbox,
    db,
    deadLetters: consumer.deadLetters,
    health,
    metrics,
    blobs,
    unrecordedBlobs: unrecorded,
    notificationSignal: signal,
    timelineSignal,
    cultures,
    entries: entryStore({ db, clock: systemClock, quota: entryQuota({ ...ofRows, config }), followerQuota }),
    followers: followerStore({ db, clock: systemClock, quota: followerQuota }),
    people: peopleStore({ db, clock: systemClock, quota: peopleQuota }),
    notifications: notificationStore({ db, clock: systemClock }),
    blobRecords: blobRecordStore(db),
    uploadTurns: new EventLoopTurns(),
    streamReads,
    pageReads,
    unusedBlobs: unused,
    unusedBlobCleanup,
    clock: systemClock,
  };
}
