import { newId } from '@plinth/kernel/uuid';
import type { Clock } from '@plinth/kernel/clock';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { serveForTest, TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase } from '@plinth/testing/test-database';
import { createApp } from '../src/app';
import { compose } from '../src/compose';
import { WorkflowConfig } from '../src/config';

export interface StartOptions {
  /** Replicas of one service share a database. */
  databaseUrl?: string;
  environment?: Record<string, string>;
  clock?: Clock;
}

/** Starts one replica of the service on real stores; close it when done. */
export async function startWorkflow(options: StartOptions = {}) {
  const closers: Close[] = [];
  const database = options.databaseUrl ? undefined : await createTestDatabase('workflow');
  if (database) closers.push(database.drop);
  const databaseUrl = options.databaseUrl ?? database!.url;
  const config = WorkflowConfig.parse({
    NODE_ENV: 'test',
    DATABASE_URL_WORKFLOW: databaseUrl,
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `test_${newId().replaceAll('-', '')}`,
    // Nobody listens there: timers are the sweeper's until a test says otherwise.
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    CALLER_KEYS: TEST_KEYS.join(','),
    CURSOR_KEYS: TEST_KEYS.join(','),
    ...options.environment,
  });
  const deps = await compose(config, silentLog(), (close) => closers.push(close), options.clock);
  const server = await serveForTest(createApp(deps));
  closers.push(server.close);
  return { ...deps, as: server.as, databaseUrl, database, close: () => closeAll(closers, silentLog()) };
}

export type Workflow = Awaited<ReturnType<typeof startWorkflow>>;
