import { createCallerCulture } from '@plinth/clients/caller-culture';
import { systemClock } from '@plinth/kernel/clock';
import { openBlobStore } from '@plinth/runtime/blobs/open-blob-store';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import type { TimelineConfig } from './config';
import { subscriptions } from './events/subscriptions';
import { notificationSignal } from './events/notification-signal';
import { PrismaClient, type Prisma } from './generated/client';
import { blobRecordStore } from './store/blob-record-store';
import { entryStore } from './store/entry-store';
import { followerStore } from './store/follower-store';
import { notificationStore } from './store/notification-store';
import { peopleStore } from './store/people-store';
import { startUnusedBlobCleanup, unusedBlobs } from './store/unused-blobs';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: TimelineConfig, log: Log, onClose: (close: Close) => void) {
  const { pool, bulkPool, db, messaging, outbox, checks } = await openServiceStore<Prisma.TransactionClient>({
    url: config.DATABASE_URL_TIMELINE,
    createClient: (adapter) => new PrismaClient({ adapter }),
    config,
    log,
    onClose,
  });
  const cultures = createCallerCulture(config, log);
  onClose(cultures.close);

  const signal = notificationSignal(messaging);
  onClose(signal.close);
  onClose(
    await consumeEvents('timeline', subscriptions({ signal, clock: systemClock }), db, messaging, log, {
      onPublished: outbox.wake,
    }),
  );

  const blobs = openBlobStore(config.BLOB_URL);
  const unused = unusedBlobs(db, blobs, systemClock);
  const unusedBlobCleanup = startUnusedBlobCleanup(unused, log);
  onClose(unusedBlobCleanup.close);
  const health = new Health({ ...checks, blobs: blobs.check });
  return {
    config,
    log,
    pool,
    bulkPool,
    db,
    health,
    metrics: createMetrics('timeline'),
    blobs,
    notificationSignal: signal,
    cultures,
    entries: entryStore({ db, outbox, clock: systemClock }),
    followers: followerStore({ db, clock: systemClock }),
    people: peopleStore({ db, clock: systemClock }),
    notifications: notificationStore({ db, clock: systemClock }),
    blobRecords: blobRecordStore(db),
    unusedBlobs: unused,
    unusedBlobCleanup,
    clock: systemClock,
  };
}
