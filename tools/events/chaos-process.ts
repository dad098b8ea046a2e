import type { EventEnvelope, PayloadOf } from '@plinth/kernel/event';
import { consumeEvents, subscription } from '@plinth/runtime/inbox';
import { silentLog } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, type RawStatements } from '@plinth/runtime/postgres';
import { counted } from './chaos-event';
import { plainDatabase } from './plain-database';

/** One process of the chaos test: `relay` or `consumer`, to be killed at any moment. */
async function main() {
  const [role = '', databaseUrl = '', natsUrl = '', natsPrefix = ''] = process.argv.slice(2);
  const log = silentLog();
  const db = plainDatabase(createPool(databaseUrl, log));
  const messaging = await connectMessaging({ NATS_URL: natsUrl, NATS_PREFIX: natsPrefix }, log);
  if (role === 'relay') {
    startOutboxRelay(db, messaging, log, {
      pollMilliseconds: 20,
      sweepMilliseconds: 1_000,
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

/** Adds up what every counter was told, and keeps the newest it was told whatever the order. */
async function project(tx: RawStatements, { tenantId, payload }: EventEnvelope<PayloadOf<typeof counted>>) {
  if (payload.isPoison) throw new Error('This cannot be applied.');
  await tx.$executeRawUnsafe(
    `INSERT INTO projection (tenant_id, counter, told, total, latest) VALUES ($1::uuid, $2, 1, $3, $4)
     ON CONFLICT (tenant_id, counter) DO UPDATE SET told = projection.told + 1,
       total = projection.total + excluded.total, latest = greatest(projection.latest, excluded.latest)`,
    tenantId,
    payload.counter,
    payload.amount,
    payload.position,
  );
}

void main();
