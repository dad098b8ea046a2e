import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventType, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { subjectOf } from '@plinth/runtime/nats';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, serveForTest, TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase } from '@plinth/testing/test-database';
import { connect } from '@nats-io/transport-node';
import { jetstream } from '@nats-io/jetstream';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { TimelineConfig } from '../src/config';

export interface StartOptions {
  /** Replicas of one service share a database and a subject prefix. */
  databaseUrl?: string;
  natsPrefix?: string;
  environment?: Record<string, string>;
}

/** Starts one replica of the service on real stores; close it when done. */
export async function startTimeline(options: StartOptions = {}) {
  const closers: Close[] = [];
  const database = options.databaseUrl ? undefined : await createTestDatabase('timeline');
  if (database) closers.push(database.drop);
  const databaseUrl = options.databaseUrl ?? database!.url;
  const natsPrefix = options.natsPrefix ?? `test_${newId().replaceAll('-', '')}`;
  const blobFolder = mkdtempSync(join(tmpdir(), 'plinth-timeline-'));
  closers.push(() => rmSync(blobFolder, { recursive: true, force: true }));
  const config = TimelineConfig.parse({
    NODE_ENV: 'test',
    DATABASE_URL_TIMELINE: databaseUrl,
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: natsPrefix,
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    BLOB_URL: pathToFileURL(blobFolder).href,
    GRPC_SERVICES: 'settings=127.0.0.1:1',
    ...options.environment,
  });
  const deps = await compose(config, silentLog(), (close) => closers.push(close));
  const server = await serveForTest(createApp(deps));
  closers.push(server.close);
  return {
    ...deps,
    as: server.as,
    url: server.url,
    database,
    databaseUrl,
    natsPrefix,
    blobFolder,
    close: () => closeAll(closers, silentLog()),
  };
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

export interface ToldFact<E extends EventType> {
  type: E;
  tenantId: string;
  payload: PayloadOf<E>;
  id?: string;
  sequence?: number;
  occurredAt?: string;
  actorId?: string | null;
  actorName?: string | null;
}

/** Tells a fact as another area would, without its outbox. */
export async function tellFact<E extends EventType>(
  natsPrefix: string,
  fact: ToldFact<E>,
  messageId = newId(),
) {
  const connection = await connect({ servers: infrastructure().natsUrl });
  const { type, payload, ...rest } = fact;
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
  await jetstream(connection).publish(subjectOf(natsPrefix, type.name), JSON.stringify(envelope), {
    msgID: messageId,
  });
  await connection.close();
}

/** Waits until everything that was told was also applied. */
export const everythingApplied = ({ db }: Timeline): Promise<boolean> =>
  eventually(async () => {
    const [row] = await db.inPlatform((tx) =>
      tx.$queryRawUnsafe<{ open: number }[]>(
        `SELECT count(*)::int AS open FROM outbox WHERE name = 'timeline.entry-added' AND NOT EXISTS (
           SELECT FROM inbox WHERE inbox.tenant_id = outbox.tenant_id AND event_id = outbox.id)`,
      ),
    );
    return row?.open === 0;
  });
