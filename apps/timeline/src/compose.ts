import { createCallerCulture } from '@plinth/conventions/caller-culture';
import { systemClock } from '@plinth/kernel/clock';
import { openBlobStore } from '@plinth/runtime/open-blob-store';
import { createMetrics, Health } from '@plinth/runtime/health';
import { consumeEvents } from '@plinth/runtime/inbox';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { TimelineConfig } from './config';
import { subscriptions } from './events/subscriptions';
import { toldSignal } from './events/told-signal';
import { PrismaClient, type Prisma } from './generated/client';
import { blobRecordStore } from './store/blob-record-store';
import { entryStore } from './store/entry-store';
import { followerStore } from './store/follower-store';
import { notificationStore } from './store/notification-store';
import { peopleStore } from './store/people-store';
import { sweepUnusedBlobs, unusedBlobs } from './store/unused-blobs';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: TimelineConfig, log: Log, onClose: (close: Close) => void) {
  const pool = createPool(config.DATABASE_URL_TIMELINE, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);
  const cultures = createCallerCulture(config, log);
  onClose(cultures.close);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  const told = toldSignal(messaging);
  onClose(told.close);
  onClose(
    await consumeEvents('timeline', subscriptions({ told, clock: systemClock }), db, messaging, log, {
      onApplied: outbox.wake,
    }),
  );

  const blobs = openBlobStore(config.BLOB_URL);
  const unused = unusedBlobs(db, blobs, systemClock);
  const unusedSweeper = sweepUnusedBlobs(unused, log);
  onClose(unusedSweeper.close);
  const health = new Health({
    postgres: () => pool.query('SELECT 1'),
    nats: messaging.check,
    blobs: blobs.check,
  });
  return {
    config,
    log,
    pool,
    db,
    health,
    metrics: createMetrics('timeline'),
    blobs,
    told,
    cultures,
    entries: entryStore({ db, outbox, clock: systemClock }),
    followers: followerStore({ db, clock: systemClock }),
    people: peopleStore({ db, clock: systemClock }),
    notifications: notificationStore({ db, clock: systemClock }),
    blobRecords: blobRecordStore(db),
    unusedBlobs: unused,
    unusedSweeper,
    clock: systemClock,
  };
}
