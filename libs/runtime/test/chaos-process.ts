import type { EventEnvelope, PayloadOf } from '@plinth/kernel/event';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { silentLog } from '@plinth/runtime/process/log';
import { connectMessaging } from '@plinth/runtime/messaging/nats';
import { startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { createPool, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { counted } from '@plinth/testing/counted-event';
import { TEST_KEYS } from '@plinth/testing/http';
import { plainDatabase } from '@plinth/testing/plain-database';

/** One process of the chaos test: `relay` or `consumer`, to be killed at any moment. */
async function main() {
  const [role = '', databaseUrl = '', natsUrl = '', natsPrefix = ''] = process.argv.slice(2);
  const log = silentLog();
  const db = plainDatabase(createPool(databaseUrl, log, { pipeline: true }));
  const messaging = await connectMessaging(
    { NATS_URL: natsUrl, NATS_PREFIX: natsPrefix, EVENT_KEYS: TEST_KEYS },
    log,
  );
  if (role === 'relay') {
    startOutboxRelay(db, messaging, log, {
      pollMilliseconds: 20,
      reconcileMilliseconds: 1_000,
      confirmSeconds: 1,
    });
    console.log('working');
    return;
  }
  await consumeEvents('projection', [subscription(counted, project)], db, messaging, log, {
    deliveriesMax: 3,
    backoffMilliseconds: 20,
  });
  console.log('working');
}

/** Adds up what each counter received, and stores the newest value in any order of delivery. */
async function project(tx: RawStatements, { tenantId, payload }: EventEnvelope<PayloadOf<typeof counted>>) {
  if (payload.isPoison) throw new Error('This cannot be applied.');
  await tx.$executeRawUnsafe(
    `INSERT INTO projection (tenant_id, counter, received, total, latest) VALUES ($1::uuid, $2, 1, $3, $4)
     ON CONFLICT (tenant_id, counter) DO UPDATE SET received = projection.received + 1,
       total = projection.total + excluded.total, latest = greatest(projection.latest, excluded.latest)`,
    tenantId,
    payload.counter,
    payload.amount,
    payload.position,
  );
}

void main();
