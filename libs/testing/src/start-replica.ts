import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog, type Log } from '@plinth/runtime/process/log';
import type { Express } from 'express';
import { eventStream } from './event-streams';
import { serveForTest, TEST_KEYS } from './http';
import { createTestDatabase } from './test-database';

/** The parts of a service that its `main.ts` assembles. */
export interface ServiceParts<Config, Deps extends object> {
  name: string;
  schema: { parse(environment: Record<string, string>): Config };
  compose(config: Config, log: Log, onClose: (close: Close) => void): Promise<Deps>;
  createApp(deps: Deps): Express;
}

export interface ReplicaOptions {
  /** Replicas of one service share a database and a subject prefix. */
  databaseUrl?: string;
  natsPrefix?: string;
  environment?: Record<string, string>;
}

/**
 * Starts one replica of a service on real stores; close it when done.
 * `closers` are closed after everything that is opened here.
 */
export async function startReplica<Config, Deps extends object>(
  { name, schema, compose, createApp }: ServiceParts<Config, Deps>,
  options: ReplicaOptions = {},
  closers: Close[] = [],
) {
  const database = options.databaseUrl ? undefined : await createTestDatabase(name);
  if (database) closers.push(database.drop);
  const databaseUrl = options.databaseUrl ?? database!.url;
  const stream = await eventStream(options.natsPrefix);
  const environment = {
    NODE_ENV: 'test',
    [`DATABASE_URL_${name.toUpperCase().replaceAll('-', '_')}`]: databaseUrl,
    ...stream,
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    EVENT_KEYS: TEST_KEYS.join(','),
    PDF_RENDERER_KEYS: TEST_KEYS.join(','),
    ...options.environment,
  };
  const deps = await compose(schema.parse(environment), silentLog(), (close) => closers.push(close));
  const server = await serveForTest(createApp(deps));
  closers.push(server.close);
  return {
    ...deps,
    as: server.as,
    url: server.url,
    database,
    databaseUrl,
    natsPrefix: stream.NATS_PREFIX,
    environment,
    close: () => closeAll(closers, silentLog()),
  };
}
