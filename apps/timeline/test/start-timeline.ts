import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventType, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { subjectOf } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { startReplica, type ReplicaOptions } from '@plinth/testing/start-replica';
import { connect } from '@nats-io/transport-node';
import { jetstream } from '@nats-io/jetstream';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { TimelineConfig } from '../src/config';

const parts = { name: 'timeline', schema: TimelineConfig, compose, createApp };

/** Starts one replica of the service on real stores; close it when done. */
export async function startTimeline(options: ReplicaOptions = {}) {
  const blobFolder = mkdtempSync(join(tmpdir(), 'plinth-timeline-'));
  const environment = {
    BLOB_URL: pathToFileURL(blobFolder).href,
    GRPC_SERVICES: 'settings=127.0.0.1:1',
    ...options.environment,
  };
  const removeFolder = () => rmSync(blobFolder, { recursive: true, force: true });
  return { ...(await startReplica(parts, { ...options, environment }, [removeFolder])), blobFolder };
}

export type Timeline = Awaited<ReturnType<typeof startTimeline>>;

/** Somebody of a tenant with the rights of everyday use, under a name of their own. */
export const aUser = (tenantId: string, name: string, ...more: string[]) =>
  aCaller({
    tenantId,
    userId: `${name.toLowerCase()}-${newId()}`,
    userName: name,
    permissions: ['Timeline.Entries.Read', 'Timeline.Entries.Create', ...more],
  });

/** Staff: sees and writes internal notes. */
export const aStaffMember = (tenantId: string, name: string) =>
  aUser(tenantId, name, 'Timeline.InternalNotes.Read', 'Timeline.InternalNotes.Create');

export const mention = ({ userId, userName }: { userId: string; userName: string }): string =>
  `@[${userName}](user:${userId})`;

export interface ForeignEvent<E extends EventType> {
  type: E;
  tenantId: string;
  payload: PayloadOf<E>;
  id?: string;
  sequence?: number;
  occurredAt?: string;
  actorId?: string | null;
  actorName?: string | null;
}

/** Publishes an event as another service would, without its outbox. */
export async function publishForeignEvent<E extends EventType>(
  natsPrefix: string,
  event: ForeignEvent<E>,
  messageId = newId(),
) {
  const connection = await connect({ servers: infrastructure().natsUrl });
  const { type, payload, ...rest } = event;
  const envelope = {
    id: newId(),
    name: type.name,
    subject: 'test',
    sequence: 1,
    occurredAt: new Date().toISOString(),
    actorId: null,
    actorName: null,
    ...rest,
    payload,
  };
  const [subject, body] = [subjectOf(natsPrefix, type.name), JSON.stringify(envelope)];
  const headers = signMessage(subject, body, TEST_KEYS);
  await jetstream(connection).publish(subject, body, { msgID: messageId, headers });
  await connection.close();
}

/** Waits until every published event was also processed, and followers were notified of every entry. */
export const allEventsProcessed = ({ db }: Timeline): Promise<boolean> =>
  eventually(async () => {
    const [row] = await db.inPlatform((tx) =>
      tx.$queryRawUnsafe<{ open: number }[]>(
        `SELECT (SELECT count(*)::int FROM outbox WHERE name = 'timeline.notifications-due' AND NOT EXISTS (
           SELECT FROM inbox WHERE inbox.tenant_id = outbox.tenant_id AND event_id = outbox.id))
           + (SELECT count(*)::int FROM due_entry) AS open`,
      ),
    );
    return row?.open === 0;
  });
